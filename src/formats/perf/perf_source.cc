#include "formats/perf/perf_source.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "capture/fact_sink.h"
#include "capture/read_control.h"
#include "capture/system_tables.h"
#include "formats/perf/capture_reader.h"
#include "formats/perf/file_header.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/perf_input.h"
#include "formats/perf/perf_losses.h"
#include "stackpack/result.h"

namespace stackpack::perf {

namespace {

// Reads a whole capture for its processes and mappings alone: what must be known of all of it
// before the first dump is unwound. The sources must be seekable.
// Errors: as read_capture(). Damage is not counted: the reading after this one counts it.
Result<capture::SystemTables> scan_mappings(Input& input, const capture::ReadControl& control) {
  capture::FactSink sink;
  CaptureReader reader(sink, {nullptr, control.cancelled});
  reader.leave_out_samples();
  const Result<capture::ByteAccount> account = reader.run(input);
  if (!account) {
    return account.error();
  }
  return sink.system().finish();
}

capture::Probe probe(const capture::CaptureHead& head) {
  return capture::probe_of_magic(detect(head.bytes) != Container::kNotPerf,
                                 "does not begin with PERFILE2, in either byte order");
}

bool is_pipe(std::span<const std::byte> head) {
  return detect(head) == Container::kPipe;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(bytes, sink, {request.control, request.unwinder});
}

}  // namespace

Result<capture::ByteAccount> read_capture(Input& input, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  if (options.unwinder == nullptr) {
    return CaptureReader(sink, options.control).run(input);
  }
  // A mapping may come after the samples that it explains: records are in order of time in each
  // processor's buffer only, and parts of a directory have no order among them.
  Result<capture::SystemTables> tables = scan_mappings(input, options.control);
  if (!tables) {
    return tables.error();
  }
  options.unwinder->begin(std::move(*tables));
  Result<capture::ByteAccount> account =
      CaptureReader(sink, options.control, options.unwinder).run(input);
  if (account) {
    options.unwinder->finish(sink);
  }
  return account;
}

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
    .probe = probe,
    .streams = is_pipe,
    .read = read,
    .open_directory = open_directory,
    .has_sessions = false,
    .ending = {},
    .has_dumps = true,
    .loss_names = kAllLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::perf
