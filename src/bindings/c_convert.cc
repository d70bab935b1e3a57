#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/c_handles.h"
#include "bindings/c_progress.h"
#include "stackpack/convert.h"

namespace {

using stackpack::ConvertOptions;
using stackpack::ConvertReport;
using stackpack::bindings::fail;
using stackpack::bindings::guard;
using stackpack::bindings::hand_over;
using stackpack::bindings::refuse;

bool take_convert_options(const stackpack_convert_options* from, ConvertOptions& options,
                          stackpack_progress** progress) {
  stackpack_convert_options given{};
  if (!stackpack::bindings::take_options(from, given) ||
      !stackpack::bindings::take_packing(given, options) ||
      !stackpack::bindings::take_names(given.binary_folders, given.binary_folder_count,
                                       options.binary_folders)) {
    return false;
  }
  options.redact = given.redact != 0;
  options.waits = given.drop_waits == 0;
  options.switch_samples = given.drop_switch_samples == 0;
  options.event_values = given.drop_event_values == 0;
  options.sample_fields = given.drop_sample_fields == 0;
  options.keep_branches = given.keep_branches != 0;
  options.member = given.member == nullptr ? "" : given.member;
  options.unwind = given.unwind != 0;
  options.sysroot = given.sysroot == nullptr ? "" : given.sysroot;
  *progress = given.progress;
  return true;
}

stackpack_convert_report c_report_of(const ConvertReport& from) {
  stackpack_convert_report to{};
  to.input_bytes = from.input_bytes;
  to.output_bytes = from.output_bytes;
  to.samples = from.statistics.samples.total;
  to.callstacks = from.statistics.callstacks.unique;
  to.lossy = from.lossy ? 1 : 0;
  return to;
}

}  // namespace

extern "C" {

stackpack_progress* stackpack_new_progress(void) {
  stackpack_progress* made = nullptr;
  const stackpack_status status = guard([&] {
    made = std::make_unique<stackpack_progress>().release();
    return STACKPACK_OK;
  });
  return status == STACKPACK_OK ? made : nullptr;
}

void stackpack_free_progress(stackpack_progress* progress) {
  const std::unique_ptr<stackpack_progress> owned(progress);
}

void stackpack_cancel(stackpack_progress* progress) {
  if (progress != nullptr) {
    progress->state.cancelled = true;
  }
}

void stackpack_hold(stackpack_progress* progress, std::uint32_t held) {
  if (progress != nullptr) {
    progress->state.held = held != 0;
  }
}

stackpack_status stackpack_get_progress(const stackpack_progress* progress,
                                        stackpack_progress_state* state) {
  if (progress == nullptr) {
    return refuse("no progress");
  }
  stackpack_progress_state value{};
  value.bytes_total = progress->state.bytes_total;
  value.bytes_done = progress->state.bytes_done;
  value.samples = progress->state.samples;
  value.samples_written = progress->state.samples_written;
  value.stage = static_cast<std::uint32_t>(progress->state.stage.load());
  return hand_over(state, value);
}

stackpack_status stackpack_convert(const char* input, const char* output,
                                   const stackpack_convert_options* options,
                                   stackpack_convert_report* report) {
  return guard([&] {
    ConvertOptions wanted;
    stackpack_progress* progress = nullptr;
    if (input == nullptr || output == nullptr) {
      return refuse("a null pointer in place of a name");
    }
    if (!take_convert_options(options, wanted, &progress)) {
      return refuse(
          "struct_size is not set, an unknown level or number of encoders, or a null pointer among "
          "names");
    }
    // Before the work: a report that cannot be written is not worth a conversion.
    if (report != nullptr && !stackpack::bindings::has_room(report)) {
      return refuse("struct_size is not set");
    }
    stackpack::ConvertProgress unwatched;
    stackpack::ConvertProgress* const watched = stackpack::bindings::state_of(progress);
    stackpack::ConvertProgress& state = watched == nullptr ? unwatched : *watched;
    const auto converted = stackpack::convert(input, output, wanted, &state);
    if (!converted) {
      return fail(converted.error(), state.tried);
    }
    return report == nullptr ? STACKPACK_OK : hand_over(report, c_report_of(*converted));
  });
}

}  // extern "C"
