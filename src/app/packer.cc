#include "app/packer.h"

#include <algorithm>

#include "app/stack_tally.h"

namespace stackpack::app {

namespace {

constexpr std::uint64_t kSpoolBytes = std::uint64_t{8} << 20;

// Which of the builder's last callstacks a sample is compared with: that of its thread. All idle
// threads are thread 0, one per processor.
std::uint64_t thread_key(const Sample& sample) {
  constexpr std::uint64_t kProcessor = std::uint64_t{1} << 32;
  return sample.tid == 0 || sample.tid == kUnknownId ? kProcessor | sample.cpu : sample.tid;
}

}  // namespace

Packer::Packer(const Options& options)
    : options_(options),
      builder_(std::make_unique<dag::Builder>(dag::Builder::Options{options.memory_limit})),
      spool_(options.scratch_directory, kSpoolBytes) {}

std::uint32_t Packer::add_event(const Event& event) {
  events_.push_back(event);
  return static_cast<std::uint32_t>(events_.size() - 1);
}

void Packer::rename_event(std::uint32_t index, std::string_view name) {
  events_[index].name = std::string(name);
}

Result<Packer::NodeRef> Packer::intern(const Sample& sample, const capture::StackView& stack) {
  if (stack.empty()) {
    return NodeRef{};
  }
  const Result<dag::NodeIndex> node = builder_->intern(stack, thread_key(sample));
  if (!node) {
    return node.error();
  }
  return NodeRef{0, static_cast<std::uint32_t>(*node)};
}

Status Packer::spool(const Sample& sample, const NodeRef& node, std::uint32_t promise) {
  SpooledSample row;
  static_cast<Sample&>(row) = sample;
  row.segment = node.segment;
  row.node = node.node;
  row.promise = promise;
  if (options_.sample_counter != nullptr) {
    options_.sample_counter->fetch_add(1, std::memory_order_relaxed);
  }
  return spool_.add(row);
}

Status Packer::add_sample(const Sample& sample, const capture::StackView& stack) {
  const Result<NodeRef> node = intern(sample, stack);
  return node ? spool(sample, *node, SpooledSample::kNoPromise) : Status(node.error());
}

capture::PendingStack Packer::open_pending() {
  promises_.emplace_back();
  return static_cast<capture::PendingStack>(promises_.size() - 1);
}

Status Packer::add_pending_sample(const Sample& sample, capture::PendingStack pending,
                                  const capture::StackView& fallback) {
  const Result<NodeRef> node = intern(sample, fallback);
  return node ? spool(sample, *node, static_cast<std::uint32_t>(pending)) : Status(node.error());
}

Status Packer::resolve_pending(capture::PendingStack pending, const capture::StackView& stack) {
  const Result<NodeRef> node = intern(Sample{}, stack);
  if (!node) {
    return node.error();
  }
  promises_[static_cast<std::size_t>(pending)] = *node;
  return {};
}

StoredSample Packer::settle(const SpooledSample& spooled,
                            const std::vector<StackId>& stack_of_node) const {
  StoredSample sample;
  static_cast<Sample&>(sample) = static_cast<const Sample&>(spooled);
  std::uint32_t node = spooled.node;
  if (spooled.promise != SpooledSample::kNoPromise) {
    const NodeRef& kept = promises_[spooled.promise];
    sample.origin = kept.node != 0      ? StackOrigin::kRecorded
                    : spooled.node != 0 ? StackOrigin::kIpOnly
                                        : StackOrigin::kNone;
    node = kept.node != 0 ? kept.node : spooled.node;
  }
  sample.stack = node == 0 ? kNoStack : stack_of_node[node];
  return sample;
}

Result<Statistics> Packer::write(io::OutputFile& out, const spk::WriterOptions& options,
                                 const Source& source) {
  Statistics statistics;
  const dag::BuilderCounters& counters = builder_->counters();
  statistics.builder.lookups = counters.lookups;
  statistics.builder.probes = counters.probes;
  statistics.builder.frames = counters.frames;
  statistics.builder.prefix_frames = counters.prefix_frames;
  statistics.builder.map_bytes = builder_->map_bytes();
  statistics.builder.segments = 1;

  dag::Builder::Frozen frozen = builder_->freeze();
  builder_.reset();

  Result<std::unique_ptr<spk::Writer>> writer = spk::Writer::create(out, options);
  if (!writer) {
    return writer.error();
  }
  if (const Status written = (*writer)->write_dag(frozen.dag); !written) {
    return written.error();
  }
  StackTally tally(events_.size());
  tally.learn_stacks(frozen.dag);
  frozen.dag = {};

  std::vector<StoredSample> batch;
  const Status merged = spool_.merge([&](std::span<const SpooledSample> rows) -> Status {
    batch.clear();
    for (const SpooledSample& row : rows) {
      batch.push_back(settle(row, frozen.stack_of_node));
      tally.add(batch.back());
    }
    return (*writer)->add_samples(batch);
  });
  if (!merged) {
    return merged.error();
  }

  if (system_.forgotten_facts() != 0) {
    losses_.add("system_facts_over_memory_limit", LossKind::kDamage, system_.forgotten_facts());
  }
  const capture::SystemTables tables = system_.finish();
  statistics.source_kind = source.kind;
  statistics.source_bytes = source.bytes;
  statistics.source_parsed_bytes = source.account.parsed;
  statistics.source_padding_bytes = source.account.padding;
  statistics.source_skipped_bytes = source.account.skipped;
  for (const Event& event : events_) {
    statistics.events.push_back({event.name, 0});
  }
  tally.report(statistics);
  statistics.processes = tables.processes.size();
  statistics.threads = tables.threads.size();
  statistics.modules = tables.modules.size();
  statistics.losses = losses_.sorted();
  return (*writer)->finish(tables, events_, statistics, source.fingerprint);
}

}  // namespace stackpack::app
