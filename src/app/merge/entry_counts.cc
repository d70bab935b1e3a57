#include "app/merge/entry_counts.h"

namespace stackpack::app {

Status EntryCounts::add(const StackCount& count) {
  if (counts_ == nullptr) {
    counts_ = std::make_unique<spk::StackCountTable>(spool_.scratch_directory(), memory_bytes_);
  }
  return counts_->add(count);
}

Status EntryCounts::flush(std::span<const NodeRef> nodes) {
  constexpr std::size_t kRows = 4'096;
  if (counts_ == nullptr) {
    return {};
  }
  const Status flushed =
      counts_->for_each_block(kRows, [&](std::span<const StackCount> rows) -> Status {
        for (const StackCount& row : rows) {
          Sample sample;
          sample.time_ns = row.samples;
          sample.pid = row.pid;
          sample.event = row.event;
          sample.origin = row.origin;
          sample.weight = row.weight;
          const NodeRef node = row.stack == kNoStack ? NodeRef{} : nodes[row.stack];
          if (const Status added = spool_.add_interned(sample, node, 0, row.samples); !added) {
            return added;
          }
        }
        return {};
      });
  counts_.reset();
  return flushed;
}

}  // namespace stackpack::app
