#include "app/symbolize/debuginfod.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "io/client_program.h"

namespace stackpack::app {

namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value != nullptr && *value != '\0';
}

}  // namespace

Result<FetchReport> fetch_files(std::span<const WantedFile> files, const FetchLimits& limits,
                                const std::function<bool(std::size_t)>& goes_on) {
  using Clock = std::chrono::steady_clock;
  if (!is_set("DEBUGINFOD_URLS")) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "--debuginfod asks the servers of $DEBUGINFOD_URLS, which names none"};
  }
  const auto deadline = Clock::now() + std::chrono::seconds(limits.seconds);
  FetchReport report;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      report.not_asked += files.size() - i;
      break;
    }
    const auto seconds = static_cast<unsigned>(left.count());
    io::ClientProgram client;
    client.words = {"debuginfod-find", files[i].executable ? "executable" : "debuginfo",
                    files[i].build_id};
    client.seconds = seconds;
    if (!is_set("DEBUGINFOD_MAXTIME")) {
      client.environment.push_back("DEBUGINFOD_MAXTIME=" + std::to_string(seconds));
    }
    if (!is_set("DEBUGINFOD_MAXSIZE")) {
      client.environment.push_back("DEBUGINFOD_MAXSIZE=" + std::to_string(limits.file_bytes));
    }
    bool wanted = true;
    const Result<int> status = io::run_client(client, [&] { return wanted = goes_on(i); });
    if (!status && status.error().code == ErrorCode::kNotFound) {
      return Error{ErrorCode::kNotFound, kNoOffset,
                   "--debuginfod needs debuginfod-find: apt install debuginfod"};
    }
    if (!status) {
      return status.error();
    }
    if (!wanted) {
      return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
    }
    ++(*status == 0 ? report.fetched : report.not_there);
  }
  return report;
}

}  // namespace stackpack::app
