// Time of threads that a .NET runtime samples: the event `thread-time`, which no file holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "query/selection/capture_view.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::query {

/// All columns of some samples, whichever of them are asked for.
class ColumnsOfSamples {
 public:
  /// Valid until the next call.
  SampleColumns of(std::span<const StoredSample> block) {
    const auto fill = [block](auto& column, auto member) {
      column.clear();
      for (const StoredSample& sample : block) {
        column.push_back(sample.*member);
      }
    };
    fill(time_, &StoredSample::time_ns);
    fill(pid_, &StoredSample::pid);
    fill(tid_, &StoredSample::tid);
    fill(cpu_, &StoredSample::cpu);
    fill(event_, &StoredSample::event);
    fill(weight_, &StoredSample::weight);
    fill(origin_, &StoredSample::origin);
    fill(flags_, &StoredSample::flags);
    fill(stack_, &StoredSample::stack);
    return {block.size(), time_,   pid_,   tid_,   cpu_, event_,
            weight_,      origin_, flags_, stack_, {},   {}};
  }

 private:
  std::vector<std::uint64_t> time_;
  std::vector<std::uint32_t> pid_;
  std::vector<std::uint32_t> tid_;
  std::vector<std::uint32_t> cpu_;
  std::vector<std::uint32_t> event_;
  std::vector<std::uint64_t> weight_;
  std::vector<StackOrigin> origin_;
  std::vector<std::uint8_t> flags_;
  std::vector<StackId> stack_;
};

/// Adds this event to a view, where a filter asks for it by its name and the file has samples of
/// threads (Managed, External) and no event of that name. A sample of it is the time from a sample
/// of a thread, or an allocation, to the next one of the thread: its time is the end, its weight
/// the length in ns, its callstack that of the first of the two. The last sample of a thread has
/// none. It is what PerfView and dotnet-trace call thread time of such files.
/// Memory: 48 bytes a thread. Errors: those of the reader, which must outlive the view.
Status add_thread_time(const Reader& reader, const SampleFilter& filter, CaptureView& view);

}  // namespace stackpack::query
