#include "formats/perf/perf_format.h"

#include <array>
#include <iterator>
#include <string_view>

#include "formats/perf/file_header.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/perf_input.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/perf_source.h"

namespace stackpack::perf {

namespace {

bool is_perf(std::span<const std::byte> head) {
  return detect(head) != Container::kNotPerf;
}

bool is_pipe(std::span<const std::byte> head) {
  return detect(head) == Container::kPipe;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(bytes, sink, {request.control, request.unwinder});
}

}  // namespace

// Every name under which this format counts something.
constexpr auto kAllLossNames = [] {
  constexpr std::size_t kCount = std::size(kLossNames) + std::size(kFieldsNotKept) +
                                 std::size(kRecordsNotKept) + std::size(kFeaturesNotKept) + 2;
  std::array<std::string_view, kCount> names{};
  std::size_t next = 0;
  for (const std::string_view name : kLossNames) {
    names[next++] = name;
  }
  const auto add = [&](std::span<const NotKept> entries) {
    for (const NotKept& entry : entries) {
      names[next++] = entry.loss;
    }
  };
  add(kFieldsNotKept);
  add(kRecordsNotKept);
  add(kFeaturesNotKept);
  names[next++] = kDataMappingsNotKept;
  names[next++] = kOtherFeaturesNotKept;
  return names;
}();

constinit const capture::SourceFormat source_format = {
    .name = "perf",
    .detect_bytes = kDetectBytes,
    .detect = is_perf,
    .streams = is_pipe,
    .read = read,
    .open_directory = open_directory,
    .has_sessions = false,
    .has_magic = true,
    .ending = {},
    .has_dumps = true,
    .loss_names = kAllLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::perf
