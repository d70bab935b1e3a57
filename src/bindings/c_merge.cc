#include <string>
#include <vector>

#include "bindings/c_handles.h"
#include "bindings/c_progress.h"
#include "stackpack/merge.h"

namespace {

using stackpack::MergeOptions;
using stackpack::MergeReport;
using stackpack::bindings::fail;
using stackpack::bindings::guard;
using stackpack::bindings::hand_over;
using stackpack::bindings::refuse;

bool take_merge_options(const stackpack_merge_options* from, MergeOptions& options,
                        stackpack_progress** progress) {
  stackpack_merge_options given{};
  if (!stackpack::bindings::take_options(from, given) ||
      !stackpack::bindings::take_packing(given, options)) {
    return false;
  }
  options.keep_going = given.keep_going != 0;
  *progress = given.progress;
  return true;
}

stackpack_merge_report c_report_of(const MergeReport& from) {
  stackpack_merge_report to{};
  to.sources = from.sources;
  to.callstacks_before = from.callstacks_before;
  to.callstacks = from.statistics.callstacks.unique;
  to.samples = from.statistics.samples.total;
  to.output_bytes = from.output_bytes;
  to.bad_inputs = from.bad_inputs;
  return to;
}

}  // namespace

extern "C" {

stackpack_status stackpack_merge(const char* const* inputs, size_t count, const char* output,
                                 const stackpack_merge_options* options,
                                 stackpack_merge_report* report, size_t* failed_input) {
  return guard([&] {
    std::vector<std::string> names;
    MergeOptions wanted;
    stackpack_progress* progress = nullptr;
    if (failed_input != nullptr) {
      *failed_input = count;
    }
    if (inputs == nullptr || output == nullptr ||
        !stackpack::bindings::take_names(inputs, count, names)) {
      return refuse("a null pointer in place of a name");
    }
    if (!take_merge_options(options, wanted, &progress)) {
      return refuse("struct_size is not set, or an unknown level or number of encoders");
    }
    // Before the work: a report that cannot be written is not worth a merge.
    if (report != nullptr && !stackpack::bindings::has_room(report)) {
      return refuse("struct_size is not set");
    }
    const auto merged =
        stackpack::merge(names, output, wanted, stackpack::bindings::state_of(progress));
    if (!merged) {
      if (failed_input != nullptr && merged.error().part < count) {
        *failed_input = merged.error().part;
      }
      return fail(merged.error());
    }
    return report == nullptr ? STACKPACK_OK : hand_over(report, c_report_of(*merged));
  });
}

}  // extern "C"
