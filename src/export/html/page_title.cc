#include "export/html/page_title.h"

#include <cstddef>
#include <cstdint>
#include <map>

#include <fmt/format.h>

namespace stackpack::exporting {

namespace {

// "/usr/bin/perf record -a" as "perf record -a".
std::string_view without_folder(std::string_view command) {
  const std::size_t end = command.find(' ');
  const std::size_t slash = command.substr(0, end).rfind('/');
  return slash == std::string_view::npos ? command : command.substr(slash + 1);
}

std::string_view recorded_program(std::string_view command) {
  constexpr std::string_view kBefore = " -- ";
  const std::size_t at = command.find(kBefore);
  const std::string_view program =
      at == std::string_view::npos ? "" : without_folder(command.substr(at + kBefore.size()));
  const bool waits = program == "sleep" || program.starts_with("sleep ");
  if (!program.empty() && !waits) {
    return program;
  }
  // What a recorder was told says less than what it saw.
  const std::string_view whole = without_folder(command);
  return whole.starts_with("perf record") ? "" : whole;
}

// Processor 0's idle process is none.
std::string busiest_process(const SampleSurvey& survey) {
  std::map<std::uint32_t, std::uint64_t> samples;
  std::map<std::uint32_t, std::string_view> names;
  for (std::size_t i = 0; i < survey.threads.size(); ++i) {
    const PageThread& thread = survey.threads[i];
    if (thread.pid != 0 && !thread.process.empty()) {
      samples[thread.pid] += survey.samples_of_thread[i];
      names.try_emplace(thread.pid, thread.process);
    }
  }
  std::uint32_t busiest = 0;
  for (const auto& [pid, count] : samples) {
    busiest = busiest == 0 || count > samples[busiest] ? pid : busiest;
  }
  if (busiest == 0) {
    return {};
  }
  const std::size_t others = names.size() - 1;
  return others == 0 ? std::string(names[busiest])
                     : fmt::format("{} and {} other process{}", names[busiest], others,
                                   others == 1 ? "" : "es");
}

}  // namespace

std::string page_title(std::string_view command, std::string_view kind,
                       const SampleSurvey& survey) {
  std::string title(recorded_program(command));
  title = title.empty() ? busiest_process(survey) : title;
  title = title.empty() ? std::string(without_folder(command)) : title;
  if (!title.empty()) {
    return title;
  }
  return kind.empty() ? "Profile" : std::string(kind) + " profile";
}

}  // namespace stackpack::exporting
