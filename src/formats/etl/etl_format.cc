#include "formats/etl/etl_format.h"

#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "formats/etl/etl_losses.h"
#include "formats/etl/etl_source.h"
#include "formats/etl/event/events_not_kept.h"
#include "formats/etl/file/log_file_header.h"
#include "formats/etl/trace_facts.h"

namespace stackpack::etl {

namespace {

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  TraceSummary summary;
  ReadOptions options;
  options.control = request.control;
  options.scratch_directory = request.scratch_directory;
  options.summary = &summary;
  options.source_stays = true;
  std::vector<io::ByteSource*> traces = {bytes.main.get()};
  for (const capture::CaptureBytes::Part& part : bytes.parts) {
    traces.push_back(part.source.get());
  }
  Result<capture::ByteAccount> account = read_session(traces, sink, options);
  if (account) {
    keep_trace_totals(summary, sink.system());
  }
  return account;
}

}  // namespace

// Every name under which this format counts something.
constexpr auto kAllLossNames = [] {
  std::array<std::string_view, std::size(kLossNames) + std::size(kEventsNotKept) + 2> names{};
  std::size_t next = 0;
  for (const std::string_view name : kLossNames) {
    names[next++] = name;
  }
  for (const std::string_view name : kEventsNotKept) {
    names[next++] = name;
  }
  names[next++] = kItemsNotKept;
  names[next++] = kMessagesNotKept;
  return names;
}();

constinit const capture::SourceFormat source_format = {
    .name = "etl",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_etl,
    // Buffers are read in the order of time, which is not that of the file.
    .streams = capture::never_streams,
    .read = read,
    .open_directory = nullptr,
    .has_sessions = true,
    .has_magic = true,
    .ending = ".etl",
    .has_payloads = true,
    .describes_payloads_late = true,
    .loss_names = kAllLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::etl
