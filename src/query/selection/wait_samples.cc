#include "query/selection/wait_samples.h"

#include <cstddef>
#include <vector>

namespace stackpack::query {

namespace {

constexpr std::size_t kSamplesTogether = 4096;

}  // namespace

Status WaitSamples::visit(const SampleQuery& query, const SampleVisit& visit) const {
  // An interval that ends in time may begin at any.
  const WaitQuery waits{query.from_ns, query.to_ns, query.pid, query.tid};
  std::vector<StoredSample> block;
  bool goes_on = true;
  const Status read = reader_.intervals(waits, [&](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      if (is_wanted(row) && row.to_ns >= query.from_ns && row.to_ns <= query.to_ns) {
        block.push_back(sample_of(row));
      }
      if (block.size() == kSamplesTogether) {
        goes_on = visit(block);
        block.clear();
      }
      if (!goes_on) {
        return false;
      }
    }
    return true;
  });
  if (read && goes_on && !block.empty()) {
    visit(block);
  }
  return read;
}

}  // namespace stackpack::query
