#include "app/merge/rebased_sink.h"

#include <algorithm>

namespace stackpack::app {

namespace {

constexpr std::size_t kInternedTogether = 256;

}  // namespace

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

RebasedSink::RebasedSink(CaptureSpool& spool, unsigned threads)
    : spool_(spool),
      counts_(spool, spool.plan().count_bytes),
      pipeline_(
          std::min(threads, 1U), kBatches,
          // What cannot be kept is no fault of the input: all of them are kept together.
          [this](unsigned, Batch& batch) {
            const Status delivered = deliver(batch);
            if (delivered) {
              return delivered;
            }
            Error error = delivered.error();
            error.part = kOutputPart;
            return Status(error);
          },
          [](Batch& batch) {
            batch.addresses.clear();
            batch.runs.clear();
            batch.extents.clear();
            batch.entries.clear();
            batch.samples.clear();
            batch.fields.clear();
            batch.counts.clear();
            batch.intervals.clear();
            batch.values.clear();
            batch.ends_generation = false;
            return Status{};
          }) {}

Status RebasedSink::send() {
  return pipeline_.submit();
}

Status RebasedSink::add_stack(std::uint32_t entry, std::span<const Frame> leaf_first) {
  // A batch has callstacks before samples.
  const Batch& filling = pipeline_.filling();
  if (!filling.samples.empty() || !filling.counts.empty() || !filling.intervals.empty() ||
      !filling.values.empty() || filling.addresses.size() >= kAddressesTogether) {
    if (const Status sent = send(); !sent) {
      return sent;
    }
  }
  Batch& batch = pipeline_.filling();
  const std::size_t first_run = batch.runs.size();
  for (const Frame& frame : leaf_first) {
    if (batch.runs.size() == first_run || batch.runs.back().mode != frame.mode) {
      batch.runs.push_back({frame.mode, 0});
    }
    ++batch.runs.back().count;
    batch.addresses.push_back(frame.address);
  }
  batch.extents.push_back({batch.addresses.size(), batch.runs.size()});
  batch.entries.push_back(entry);
  return {};
}

Status RebasedSink::add_sample(const Sample& sample, std::uint32_t entry, std::uint32_t rank,
                               std::uint64_t times) {
  Batch& batch = pipeline_.filling();
  batch.samples.push_back({sample, entry, rank, times});
  // An input may have any flags.
  batch.samples.back().sample.flags &= static_cast<std::uint8_t>(~capture::kSampleHasFields);
  return batch.samples.size() < kSamplesTogether ? Status{} : send();
}

Status RebasedSink::add_sample(const Sample& sample, std::uint32_t entry, std::uint32_t rank,
                               const FieldRow& fields) {
  Batch& batch = pipeline_.filling();
  batch.samples.push_back({sample, entry, rank, 1});
  batch.samples.back().sample.flags |= capture::kSampleHasFields;
  batch.fields.push_back(fields);
  return batch.samples.size() < kSamplesTogether ? Status{} : send();
}

Status RebasedSink::add_count(const StackCount& count) {
  pipeline_.filling().counts.push_back(count);
  return pipeline_.filling().counts.size() < kSamplesTogether ? Status{} : send();
}

Status RebasedSink::add_interval(const WaitInterval& interval, std::uint32_t rank) {
  pipeline_.filling().intervals.push_back({interval, rank});
  return pipeline_.filling().intervals.size() < kSamplesTogether ? Status{} : send();
}

Status RebasedSink::add_value(const capture::RecordedValue& value, std::uint32_t entry,
                              std::uint32_t rank) {
  pipeline_.filling().values.push_back({value, entry, rank});
  return pipeline_.filling().values.size() < kSamplesTogether ? Status{} : send();
}

Status RebasedSink::end_generation() {
  pipeline_.filling().ends_generation = true;
  return send();
}

Status RebasedSink::finish() {
  return pipeline_.drain();
}

Status RebasedSink::deliver(Batch& batch) {
  if (const Status interned = intern(batch); !interned) {
    return interned;
  }
  if (const Status spooled = spool_samples(batch); !spooled) {
    return spooled;
  }
  if (!batch.ends_generation) {
    return {};
  }
  const Status flushed = counts_.flush(nodes_);
  nodes_.clear();
  return flushed;
}

Status RebasedSink::intern(const Batch& batch) {
  Extent begin;
  for (std::size_t first = 0; first < batch.extents.size(); first += kInternedTogether) {
    arrivals_.clear();
    const std::size_t end = std::min(first + kInternedTogether, batch.extents.size());
    for (std::size_t i = first; i < end; ++i) {
      const Extent& extent = batch.extents[i];
      const capture::StackView view{
          std::span(batch.addresses).subspan(begin.addresses, extent.addresses - begin.addresses),
          std::span(batch.runs).subspan(begin.runs, extent.runs - begin.runs)};
      arrivals_.push_back({view, 0});
      begin = extent;
    }
    if (const Status interned = spool_.intern_stacks(arrivals_, interned_); !interned) {
      return interned;
    }
    for (std::size_t i = first; i < end; ++i) {
      const std::uint32_t entry = batch.entries[i];
      nodes_.resize(std::max<std::size_t>(nodes_.size(), std::size_t{entry} + 1));
      nodes_[entry] = interned_[i - first];
    }
  }
  return {};
}

Status RebasedSink::spool_samples(const Batch& batch) {
  auto fields = batch.fields.begin();
  for (const EntrySample& one : batch.samples) {
    if ((one.sample.flags & capture::kSampleHasFields) != 0) {
      spool_.sample_fields()->add(one.sample.time_ns, one.rank, *fields++);
    }
    const Status added = spool_.add_interned(one.sample, node_of(one.entry), one.rank, one.times);
    if (!added) {
      return added;
    }
  }
  for (const EntryInterval& one : batch.intervals) {
    const Status added = spool_.add_interned(one.interval, node_of(one.interval.stack),
                                             node_of(one.interval.waker_stack), one.rank);
    if (!added) {
      return added;
    }
  }
  for (const EntryValue& one : batch.values) {
    const NodeRef node = node_of(one.entry);
    spool_.values()->add_placed(one.value, node.node, node.segment, one.rank);
  }
  for (const StackCount& count : batch.counts) {
    if (const Status added = counts_.add(count); !added) {
      return added;
    }
  }
  return {};
}

}  // namespace stackpack::app
