#include "app/diff/time_blocks.h"

#include <span>

#include "query/event_groups.h"
#include "query/selection/event_choice.h"

namespace stackpack::app {

Result<std::vector<std::uint64_t>> marks_of(const query::CaptureView& view,
                                            const std::string& event) {
  SampleFilter filter;
  filter.events = {event};
  const auto groups = query::wanted_groups(view, filter);
  if (!groups) {
    return groups.error();
  }
  std::vector<bool> is_mark(view.events.size());
  for (const query::EventGroup& group : *groups) {
    for (const std::uint32_t row : group.events) {
      is_mark[row] = true;
    }
  }
  std::vector<std::uint64_t> marks;
  const Status read = view.samples({}, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      if (is_mark[sample.event]) {
        marks.push_back(sample.time_ns);
      }
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  if (marks.size() < 2) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "fewer than two samples of the event that begins an iteration"};
  }
  std::sort(marks.begin(), marks.end());
  return marks;
}

}  // namespace stackpack::app
