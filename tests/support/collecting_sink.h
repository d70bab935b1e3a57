// A CallstackSink that keeps everything, in plain containers, for tests of the sources.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "capture/branch_recorder.h"
#include "capture/callstack_sink.h"
#include "capture/field_recorder.h"
#include "capture/value_recorder.h"
#include "support/sink_laws.h"

namespace stackpack::test {

/// Leaf first, `mode letter + hex address`, joined by spaces: a line of the stack listing.
inline std::string text_of(const capture::StackView& stack) {
  std::string line;
  std::size_t at = 0;
  for (const capture::ModeRun& run : stack.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++at) {
      char frame[24];
      std::snprintf(frame, sizeof frame, "%s%c%llx", at == 0 ? "" : " ", mode_letter(run.mode),
                    static_cast<unsigned long long>(stack.addresses[at]));
      line += frame;
    }
  }
  return line;
}

class CollectingSink : public capture::CallstackSink {
 public:
  struct Row {
    Sample sample;
    std::string stack;  // text of the callstack, or of the fallback
    int pending = -1;
  };

  CollectingSink() = default;
  CollectingSink(const CollectingSink&) = delete;
  CollectingSink& operator=(const CollectingSink&) = delete;
  ~CollectingSink() override { check_sink_laws(*this); }

  std::uint32_t add_event(const Event& event) override {
    events.push_back(event);
    return static_cast<std::uint32_t>(events.size() - 1);
  }
  void rename_event(std::uint32_t index, std::string_view name) override {
    events.at(index).name = std::string(name);
  }
  using capture::CallstackSink::add_sample;
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo memo) override {
    if (memo.known) {
      ++known_samples;
      rows.push_back({sample, remembered.at(memo.slot), -1});
      return {};
    }
    rows.push_back({sample, text_of(stack), -1});
    if (memo.slot != capture::StackMemo::kNone) {
      remembered[memo.slot] = rows.back().stack;
    }
    return {};
  }
  [[nodiscard]] bool remembers_stacks() const override { return remembers; }
  capture::PendingStack open_pending() override {
    pending_stacks.emplace_back();
    return static_cast<capture::PendingStack>(pending_stacks.size() - 1);
  }
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override {
    rows.push_back({sample, text_of(fallback), static_cast<int>(pending)});
    return {};
  }
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override {
    pending_stacks.at(static_cast<std::size_t>(pending)) = text_of(stack);
    return {};
  }
  capture::SystemRecorder& system() override { return system_facts; }
  capture::BranchRecorder* branches() override { return &branch_recorder; }
  [[nodiscard]] bool keeps_branch_stacks() const override { return keeps_stacks_of_branches; }
  Status add_branch_stack(std::span<const StackedBranch> stack, FieldRow& fields) override {
    branch_stacks.emplace_back(stack.begin(), stack.end());
    fields.set(SampleField::kBranchStack, branch_stacks.size() - 1);
    return {};
  }
  capture::FieldRecorder* sample_fields() override {
    return keeps_fields ? &field_recorder : nullptr;
  }
  capture::ValueRecorder* values() override { return keeps_values ? &value_recorder : nullptr; }
  capture::LossCounters& losses() override { return counters; }

  /// Rows with every pending callstack resolved.
  [[nodiscard]] std::vector<Row> settled() const {
    std::vector<Row> result = rows;
    for (Row& row : result) {
      if (row.pending < 0) {
        continue;
      }
      const std::string& resolved = pending_stacks.at(static_cast<std::size_t>(row.pending));
      row.sample.origin = !resolved.empty()   ? StackOrigin::kRecorded
                          : row.stack.empty() ? StackOrigin::kNone
                                              : StackOrigin::kIpOnly;
      row.stack = resolved.empty() ? row.stack : resolved;
    }
    return result;
  }

  /// The canonical stack listing: recorded callstacks with their number of samples.
  [[nodiscard]] std::map<std::string, std::uint64_t> listing() const {
    std::map<std::string, std::uint64_t> counts;
    for (const Row& row : settled()) {
      if (row.sample.origin == StackOrigin::kRecorded) {
        ++counts[row.stack];
      }
    }
    return counts;
  }

  std::vector<Event> events;
  std::vector<Row> rows;
  std::vector<std::string> pending_stacks;
  bool remembers = true;
  std::map<std::uint32_t, std::string> remembered;  // by the slot of a StackMemo
  std::uint64_t known_samples = 0;
  capture::SystemRecorder system_facts;
  capture::BranchRecorder branch_recorder;
  bool keeps_stacks_of_branches = false;
  std::vector<std::vector<StackedBranch>> branch_stacks;
  bool keeps_fields = false;
  capture::FieldRecorder field_recorder;
  bool keeps_values = false;
  capture::ValueRecorder value_recorder;
  capture::LossCounters counters;
};

}  // namespace stackpack::test
