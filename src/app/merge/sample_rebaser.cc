#include "app/merge/sample_rebaser.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

constexpr std::uint32_t kNoEntry = RebasedSink::kNoEntry;
// As what counts say is looked up elsewhere: they have no time.
constexpr std::uint64_t kTimeOfCounts = std::numeric_limits<std::uint64_t>::max() - 1;

bool stopped(const std::atomic<bool>* cancelled) {
  return cancelled != nullptr && *cancelled;
}

Error interruption() {
  return {ErrorCode::kCancelled, kNoOffset, "interrupted"};
}

}  // namespace

Result<SourceThreads> SourceThreads::of(const Reader& reader, InputProcesses& processes) {
  const auto rows = reader.threads();
  if (!rows) {
    return rows.error();
  }
  SourceThreads threads;
  for (const Thread& row : *rows) {
    const auto process = processes.find(row.pid);
    if (!process) {
      return process.error();
    }
    threads.lives_[{process->rank, row.tid}].push_back(
        {row.start_ns == kUnknownTime ? 0 : row.start_ns, row.pid});
  }
  for (auto& [thread, lives] : threads.lives_) {
    core::sort_rows(lives, [](const Life& a, const Life& b) { return a.start_ns < b.start_ns; });
  }
  return threads;
}

std::uint32_t SourceThreads::pid_of(std::uint32_t rank, std::uint32_t tid,
                                    std::uint64_t time_ns) const {
  const auto known = lives_.find({rank, tid});
  if (known == lives_.end()) {
    return kUnknownId;
  }
  const std::vector<Life>& lives = known->second;
  const auto after =
      std::upper_bound(lives.begin(), lives.end(), time_ns,
                       [](std::uint64_t time, const Life& life) { return time < life.start_ns; });
  return after == lives.begin() ? lives.front().pid : std::prev(after)->pid;
}

const FrameRebaser::Context& NamingContexts::find(std::uint32_t pid, std::uint64_t time_ns) {
  if (last_ != nullptr && last_->context.pid == pid && time_ns >= last_->from_ns &&
      time_ns < last_->until_ns) {
    return last_->context;
  }
  Latest& latest = latest_[pid];
  last_ = &latest;
  if (time_ns >= latest.from_ns && time_ns < latest.until_ns) {
    return latest.context;
  }
  const Symbols::Epoch user = symbols_.epoch(pid, time_ns);
  const Symbols::Epoch kernel = symbols_.epoch(kKernelPid, time_ns);
  latest.from_ns = time_ns;
  latest.until_ns = std::min(user.valid_until, kernel.valid_until);
  latest.context.pid = pid;
  latest.context.time_ns = time_ns;
  const auto number_of = [this, &latest](const Key& key) {
    const std::uint32_t number = numbers_.number(key);
    if (number == contexts_.size()) {
      contexts_.push_back(latest.context);
    }
    return number;
  };
  latest.context.kernel = number_of({kKernelPid, 0, kernel.number});
  latest.context.user = number_of({pid, user.number, kernel.number});
  if (kernel_in_processes_) {
    latest.context.kernel = latest.context.user;
  }
  contexts_[latest.context.user] = latest.context;
  return latest.context;
}

void NamingContexts::forget() {
  latest_.clear();
  last_ = nullptr;
  numbers_.clear();
  contexts_.clear();
}

SampleRebaser::SampleRebaser(Parts parts, RebasedSink& sink)
    : parts_(std::move(parts)), sink_(sink), contexts_(parts_.symbols), fields_(parts_.reader) {}

Status SampleRebaser::add_samples() {
  Status status;
  const Status read = parts_.reader.samples({}, [&](std::span<const StoredSample> block) {
    status = stopped(parts_.cancelled) ? Status(interruption()) : add_block(block);
    return static_cast<bool>(status);
  });
  return status ? read : status;
}

Status SampleRebaser::add_all_counts() {
  const auto counts = parts_.reader.stack_counts();
  if (!counts) {
    return counts.error();
  }
  constexpr std::size_t kBlock = 65'536;
  Status status;
  for (std::size_t at = 0; status && at < counts->size(); at += kBlock) {
    status =
        stopped(parts_.cancelled)
            ? Status(interruption())
            : add_counts(std::span(*counts).subspan(at, std::min(kBlock, counts->size() - at)));
  }
  return status;
}

Status SampleRebaser::run() {
  Status status = parts_.reader.has_samples() ? add_samples() : add_all_counts();
  if (status && parts_.keeps_samples && parts_.reader.has_intervals()) {
    status = add_waits();
  }
  if (status && parts_.keeps_samples && parts_.values != nullptr &&
      parts_.reader.has_event_values()) {
    status = add_values();
  }
  return status ? end_generation() : status;
}

Status SampleRebaser::add_values() {
  const Result<std::vector<ValueSchema>> kinds = parts_.reader.event_value_kinds();
  Result<std::vector<std::string>> texts = parts_.reader.event_value_texts();
  if (!kinds || !texts) {
    return kinds ? texts.error() : kinds.error();
  }
  capture::CarriedValues carried(*kinds, std::move(*texts), *parts_.values);
  Status status;
  const Status read = parts_.reader.event_values([&](std::span<const EventValue> rows) {
    status = stopped(parts_.cancelled) ? Status(interruption()) : add_values(rows, carried);
    return static_cast<bool>(status);
  });
  return status ? read : status;
}

// Goes through rows of processes that are wanted, once for their callstacks and then to hand them
// over. `enter(row, process)` gives the entry of a row's callstack, `take(row, entry, process)`
// gets the places of both in `rows` and in block_entries_.
template <typename Row, typename Enter, typename Take>
Status SampleRebaser::add_rows(std::span<const Row> rows, const Enter& enter, const Take& take) {
  block_entries_.clear();
  waker_entries_.clear();
  for (const Row& row : rows) {
    const auto process = parts_.processes.find(row.pid);
    if (!process) {
      return process.error();
    }
    if (process->wanted) {
      block_entries_.push_back(enter(row, *process));
    }
  }
  if (const Status resolved = resolve(); !resolved) {
    return resolved;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto process = parts_.processes.find(rows[i].pid);
    if (!process) {
      return process.error();
    }
    if (!process->wanted) {
      continue;
    }
    if (const Status taken = take(i, next++, *process); !taken) {
      return taken;
    }
  }
  return entries_.size() > kMostEntries ? end_generation() : Status{};
}

Status SampleRebaser::add_values(std::span<const EventValue> rows,
                                 capture::CarriedValues& carried) {
  const auto enter = [this](const EventValue& row, const InputProcesses::Process&) {
    return entry_of(row.stack, row.pid, row.time_ns);
  };
  return add_rows(
      rows, enter,
      [&](std::size_t row, std::size_t entry, const InputProcesses::Process& process) -> Status {
        std::optional<capture::RecordedValue> value = carried.carry(rows[row]);
        if (!value) {
          ++values_left_out_;
          return {};
        }
        value->pid = process.number;
        value->time_ns = parts_.clock.time(value->time_ns);
        return sink_.add_value(*value, block_entries_[entry], process.rank);
      });
}

Status SampleRebaser::add_waits() {
  const Result<SourceThreads> threads = SourceThreads::of(parts_.reader, parts_.processes);
  if (!threads) {
    return threads.error();
  }
  Status status;
  const Status read = parts_.reader.intervals({}, [&](std::span<const WaitInterval> rows) {
    status = stopped(parts_.cancelled) ? Status(interruption()) : add_intervals(rows, *threads);
    return static_cast<bool>(status);
  });
  return status ? read : status;
}

// Callstacks of a thread and of who woke it, each as the process of the thread has its addresses.
Status SampleRebaser::add_intervals(std::span<const WaitInterval> rows,
                                    const SourceThreads& threads) {
  const auto enter = [&](const WaitInterval& row, const InputProcesses::Process& process) {
    const std::uint32_t waker_pid =
        row.waker_stack == kNoStack ? row.pid : threads.pid_of(process.rank, row.waker, row.to_ns);
    const std::uint32_t entry = entry_of(row.stack, row.pid, row.from_ns);
    waker_entries_.push_back(entry_of(row.waker_stack, waker_pid, row.to_ns));
    return entry;
  };
  return add_rows(rows, enter,
                  [&](std::size_t row, std::size_t entry, const InputProcesses::Process& process) {
                    WaitInterval merged = rows[row];
                    merged.pid = process.number;
                    merged.from_ns = parts_.clock.time(merged.from_ns);
                    merged.to_ns = parts_.clock.time(merged.to_ns);
                    merged.reason = parts_.reasons[merged.reason];
                    merged.stack = block_entries_[entry];
                    merged.waker_stack = waker_entries_[entry];
                    return sink_.add_interval(merged, process.rank);
                  });
}

std::uint32_t SampleRebaser::entry_of(StackId stack, std::uint32_t pid, std::uint64_t time_ns) {
  if (stack == kNoStack) {
    return kNoEntry;
  }
  const std::uint32_t context = contexts_.find(pid, time_ns).user;
  const auto known = static_cast<std::uint32_t>(entries_.size());
  const std::uint32_t entry = entries_.number(std::uint64_t{context} << 32 | stack);
  if (entry == known) {
    unknown_.push_back({stack, context, entry});
  }
  return entry;
}

Status SampleRebaser::add_block(std::span<const StoredSample> samples) {
  const auto enter = [this](const StoredSample& sample, const InputProcesses::Process&) {
    return entry_of(sample.stack, sample.pid, sample.time_ns);
  };
  const Status added = add_rows(
      samples, enter,
      [&](std::size_t row, std::size_t entry, const InputProcesses::Process& process) -> Status {
        const Result<std::optional<FieldRow>> fields = fields_of(samples[row], next_sample_ + row);
        return fields ? add(samples[row], block_entries_[entry], process, 1, *fields)
                      : Status(fields.error());
      });
  next_sample_ += samples.size();
  return added;
}

Status SampleRebaser::add_counts(std::span<const StackCount> counts) {
  const auto enter = [this](const StackCount& count, const InputProcesses::Process&) {
    return entry_of(count.stack, count.pid, kTimeOfCounts);
  };
  return add_rows(counts, enter,
                  [&](std::size_t row, std::size_t entry, const InputProcesses::Process& process) {
                    StoredSample sample;
                    sample.event = counts[row].event;
                    sample.weight = counts[row].weight;
                    sample.origin = counts[row].origin;
                    return add(sample, block_entries_[entry], process, counts[row].samples, {});
                  });
}

Status SampleRebaser::add(const StoredSample& sample, std::uint32_t entry,
                          const InputProcesses::Process& process, std::uint64_t times,
                          const std::optional<FieldRow>& fields) {
  if (sample.event >= parts_.events.size()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: sample of an unknown event"};
  }
  Sample merged = static_cast<const Sample&>(sample);
  merged.event = parts_.events[sample.event];
  merged.pid = process.number;
  if (!parts_.keeps_samples) {
    return sink_.add_count({entry == kNoEntry ? kNoStack : entry, merged.event, merged.pid,
                            merged.origin, times, merged.weight});
  }
  merged.time_ns = parts_.clock.time(sample.time_ns);
  return fields ? sink_.add_sample(merged, entry, process.rank, *fields)
                : sink_.add_sample(merged, entry, process.rank, times);
}

// Of a row that names a branch stack: as the spool knows it, with the addresses of the merge.
Status SampleRebaser::rebase_branch_stack(const StoredSample& sample, FieldRow& row) {
  const Status read =
      parts_.branch_stacks != nullptr ? parts_.reader.branch_stack(row, branches_) : Status{};
  row.clear(SampleField::kBranchStack);
  row.clear(SampleField::kBranchCycles);
  if (!read || parts_.branch_stacks == nullptr) {
    return read;
  }
  const FrameRebaser::Context& context = contexts_.find(sample.pid, sample.time_ns);
  for (StackedBranch& branch : branches_) {
    branch.from = parts_.frames.rebase_end(branch.from, context);
    branch.to = parts_.frames.rebase_end(branch.to, context);
  }
  return parts_.branch_stacks->add(branches_, row);
}

// The fields of a sample, with control group, labels and branch stack as the merge has them.
Result<std::optional<FieldRow>> SampleRebaser::fields_of(const StoredSample& sample,
                                                         std::uint64_t number) {
  const Result<const FieldRow*> found = fields_.find(number);
  if (!found) {
    return found.error();
  }
  if (*found == nullptr) {
    return std::optional<FieldRow>();
  }
  FieldRow row = **found;
  if (row.has(SampleField::kBranchStack)) {
    if (const Status rebased = rebase_branch_stack(sample, row); !rebased) {
      return rebased.error();
    }
  }
  if (row.has(SampleField::kControlGroup)) {
    const std::uint64_t group_number = row.value(SampleField::kControlGroup);
    if (group_number >= parts_.control_groups.size()) {
      return Error{ErrorCode::kCorrupt, kNoOffset,
                   "spk: a sample is of a control group that is not there"};
    }
    const auto group = parts_.control_groups[static_cast<std::size_t>(group_number)];
    row.clear(SampleField::kControlGroup);
    if (group) {
      row.set(SampleField::kControlGroup, *group);
    }
  }
  if (row.has(SampleField::kLabelSet) && parts_.keeps_samples) {
    const std::uint64_t set = row.value(SampleField::kLabelSet);
    if (set >= parts_.label_sets.size()) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "spk: a sample has labels that are not there"};
    }
    row.set(SampleField::kLabelSet, parts_.label_sets[static_cast<std::size_t>(set)]);
  }
  return row.present != 0 ? std::optional(row) : std::nullopt;
}

// Rebases the callstacks that are new, each page of the input loaded once.
Status SampleRebaser::resolve() {
  if (unknown_.empty()) {
    return {};
  }
  core::sort_rows(unknown_, [](const Unknown& a, const Unknown& b) {
    return std::tie(a.stack, a.context) < std::tie(b.stack, b.context);
  });
  std::vector<StackId> ids;
  ids.reserve(unknown_.size());
  for (const Unknown& unknown : unknown_) {
    ids.push_back(unknown.stack);
  }
  Status status;
  const auto visit = [&](std::size_t position, std::span<const Frame> frames) {
    const Unknown& unknown = unknown_[position];
    parts_.frames.rebase(frames, contexts_.of_user(unknown.context), rebased_);
    status = sink_.add_stack(unknown.entry, rebased_);
    return static_cast<bool>(status);
  };
  if (const Status read = parts_.reader.callstacks(ids, visit); !read) {
    return read;
  }
  unknown_.clear();
  return status;
}

// Hands over what is counted, and forgets all callstacks, so that memory stays bounded.
Status SampleRebaser::end_generation() {
  entries_.clear();
  contexts_.forget();
  parts_.frames.forget();
  return sink_.end_generation();
}

}  // namespace stackpack::app
