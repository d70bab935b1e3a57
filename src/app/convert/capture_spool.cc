#include "app/convert/capture_spool.h"

#include <algorithm>

namespace stackpack::app {

namespace {

// Which of the builder's last callstacks a sample is compared with: that of its thread. All idle
// threads are thread 0, one per processor.
std::uint64_t comparison_key(std::uint32_t tid, std::uint32_t cpu) {
  constexpr std::uint64_t kProcessor = std::uint64_t{1} << 32;
  return tid == 0 || tid == kUnknownId ? kProcessor | cpu : tid;
}
std::uint64_t comparison_key(const Sample& sample) {
  return comparison_key(sample.tid, sample.cpu);
}
std::uint64_t comparison_key(const capture::CallstackSink::StackedSample& entry) {
  return entry.sched != nullptr ? comparison_key(entry.sched->tid, entry.sched->cpu)
                                : comparison_key(*entry.sample);
}

// Branch stacks take half of it: a quarter for the branches, and one for the cycles.
MemoryPlan plan_of(const CaptureSpool::Options& options) {
  const auto own = [&](std::uint64_t limit) {
    return options.branch_stacks ? limit - limit / 2 : limit;
  };
  return options.memory_limit == 0 && options.default_bound != 0
             ? MemoryPlan::of_default(own(options.default_bound))
             : MemoryPlan::of_limit(own(options.memory_limit));
}

}  // namespace

CaptureSpool::CaptureSpool(const Options& options)
    : options_(options),
      plan_(plan_of(options)),
      stacks_(options.scratch_directory,
              {options.builder_bytes != 0 ? options.builder_bytes : plan_.builder_bytes,
               plan_.cache_bytes}),
      spool_(options.scratch_directory, plan_.spool_bytes, options.merges),
      sched_(options.scratch_directory),
      intervals_(options.scratch_directory),
      pending_stacks_(options.scratch_directory, plan_.pending_bytes),
      remembered_(capture::StackMemo::kSlots) {
  wait_facts_.keeps_samples = options.switch_samples;
  system_.set_memory_limit(plan_.fact_bytes);
  system_.functions().configure(options.scratch_directory, plan_.function_bytes);
  values_.configure(options.scratch_directory);
  fields_.configure(options.scratch_directory);
  branches_.configure(options.scratch_directory, plan_.branch_bytes);
  if (options.branch_stacks) {
    const std::uint64_t bound =
        options.memory_limit != 0 ? options.memory_limit : options.default_bound;
    branch_stacks_.emplace(options.scratch_directory, MemoryPlan::of_branch_stacks(bound),
                           MemoryPlan::branch_entry_bytes(options.memory_limit),
                           options.orders_branches ? BranchStackSpool::Numbering::kByContent
                                                   : BranchStackSpool::Numbering::kByArrival);
  }
}

std::uint32_t CaptureSpool::add_event(const Event& event) {
  events_.push_back(event);
  scales_.add_row();
  return static_cast<std::uint32_t>(events_.size() - 1);
}

void CaptureSpool::rename_event(std::uint32_t index, std::string_view name) {
  events_[index].name = std::string(name);
}

// Fills arrived_ with the nodes of arrivals_.
Status CaptureSpool::intern_arrivals() {
  return stacks_.intern(arrivals_, arrived_);
}

Result<NodeRef> CaptureSpool::intern(const Sample& sample, const capture::StackView& stack) {
  if (stack.empty()) {
    return NodeRef{};
  }
  arrivals_.assign(1, {stack, comparison_key(sample)});
  const Status interned = intern_arrivals();
  return interned ? Result<NodeRef>(arrived_.front()) : Result<NodeRef>(interned.error());
}

Status CaptureSpool::spool(const Sample& sample, const NodeRef& node, std::uint32_t pending) {
  if (options_.sample_counter != nullptr) {
    // This thread alone counts.
    options_.sample_counter->store(options_.sample_counter->load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
  }
  scales_.add_weight(sample.event, sample.weight);
  return spool_.add(sample, node.segment, node.node, pending);
}

Status CaptureSpool::for_each_sample(
    const std::function<Status(std::span<const SpooledSample>)>& visit) {
  if (!scales_.any()) {
    return spool_.merge(visit);
  }
  std::vector<SpooledSample> scaled;
  return spool_.merge([&](std::span<const SpooledSample> rows) {
    scaled.assign(rows.begin(), rows.end());
    for (SpooledSample& row : scaled) {
      scales_.apply(row);
    }
    return visit(scaled);
  });
}

Status CaptureSpool::add_sample(const Sample& sample, const capture::StackView& stack,
                                capture::StackMemo memo) {
  const StackedSample single{&sample, stack, memo, nullptr};
  return add_samples({&single, 1});
}

Status CaptureSpool::add_samples(std::span<const StackedSample> samples) {
  arrivals_.clear();
  for (const StackedSample& entry : samples) {
    if (!entry.memo.known && !entry.stack.empty()) {
      arrivals_.push_back({entry.stack, comparison_key(entry)});
    }
  }
  if (const Status interned = intern_arrivals(); !interned) {
    return interned;
  }
  auto next = arrived_.begin();
  for (const StackedSample& entry : samples) {
    NodeRef node;
    if (entry.memo.known) {
      // Nodes of a segment that was closed since are as good as any.
      node = remembered_[entry.memo.slot];
      known_frames_ += entry.sched == nullptr ? node.depth : 0U;
      raw_frames_ += entry.sched == nullptr ? node.depth : 0U;
    } else {
      node = entry.stack.empty() ? NodeRef{} : *next++;
      raw_frames_ += entry.sched == nullptr && has_chain(entry.sample->origin) ? node.depth : 0U;
      if (entry.memo.slot != capture::StackMemo::kNone) {
        remembered_[entry.memo.slot] = node;
      }
    }
    const Status spooled = entry.sched != nullptr
                               ? sched_.add(*entry.sched, node, SpooledSample::kNoPending)
                               : spool(*entry.sample, node, SpooledSample::kNoPending);
    if (!spooled) {
      return spooled;
    }
  }
  return {};
}

Status CaptureSpool::add_sched(const capture::SchedRecord& record, const capture::StackView& stack,
                               capture::StackMemo memo) {
  const StackedSample single{nullptr, stack, memo, &record};
  return add_samples({&single, 1});
}

Status CaptureSpool::add_pending_sched(const capture::SchedRecord& record,
                                       capture::PendingStack pending) {
  return sched_.add(record, {}, static_cast<std::uint32_t>(pending));
}

Status CaptureSpool::intern_stacks(std::span<const dag::Builder::Arrival> stacks,
                                   std::vector<NodeRef>& nodes) {
  return stacks_.intern(stacks, nodes);
}

Status CaptureSpool::add_interned(const Sample& sample, const NodeRef& node, std::uint32_t rank,
                                  std::uint64_t times) {
  raw_frames_ += has_chain(sample.origin) ? node.depth * times : 0U;
  return spool(sample, node, rank);
}

Status CaptureSpool::add_interned(const WaitInterval& interval, const NodeRef& node,
                                  const NodeRef& waker_node, std::uint32_t rank) {
  IntervalRow row{interval};
  row.source = rank;
  row.stack = node.node;
  row.segment = node.segment;
  row.waker_stack = waker_node.node;
  row.waker_segment = waker_node.segment;
  return intervals_.add(row);
}

capture::PendingStack CaptureSpool::open_pending() {
  return static_cast<capture::PendingStack>(pending_stacks_.open());
}

Status CaptureSpool::add_pending_sample(const Sample& sample, capture::PendingStack pending,
                                        const capture::StackView& fallback) {
  const Result<NodeRef> node = intern(sample, fallback);
  return node ? spool(sample, *node, static_cast<std::uint32_t>(pending)) : Status(node.error());
}

Status CaptureSpool::resolve_pending(capture::PendingStack pending,
                                     const capture::StackView& stack) {
  const Result<NodeRef> node = intern(Sample{}, stack);
  if (!node) {
    return node.error();
  }
  return pending_stacks_.resolve(static_cast<std::uint32_t>(pending), *node);
}

void CaptureSpool::report_builder(Statistics& statistics) const {
  stacks_.report(statistics);
  statistics.builder.frames += known_frames_;
  statistics.builder.prefix_frames += known_frames_;
}

Result<std::unique_ptr<PackedStacks>> CaptureSpool::pack_stacks() {
  return stacks_.pack(plan_);
}

}  // namespace stackpack::app
