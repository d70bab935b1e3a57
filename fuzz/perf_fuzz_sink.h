// Reads bytes as a perf capture and aborts when the source breaks a rule of the sink.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "capture/branch_recorder.h"
#include "capture/callstack_sink.h"
#include "capture/field_recorder.h"
#include "capture/value_recorder.h"
#include "formats/perf/perf_source.h"
#include "fuzz/require.h"
#include "io/byte_source.h"

namespace stackpack::fuzz {

/// Keeps counts only; checks what CallstackSink says about every call.
class PerfFuzzSink final : public capture::CallstackSink {
 public:
  std::uint32_t add_event(const Event& /*event*/) override { return events_++; }
  void rename_event(std::uint32_t index, std::string_view /*name*/) override {
    require(index < events_);
  }
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo memo) override {
    require(sample.event < events_);
    if ((sample.flags & capture::kSampleHasFields) != 0) {
      fields_.place(marked_++);
    }
    if (memo.known) {
      require(sample.origin == StackOrigin::kRecorded && stack.empty());
      require(!remembered_.at(memo.slot).empty());
      count(remembered_[memo.slot]);
      return {};
    }
    std::size_t frames = 0;
    for (const capture::ModeRun& run : stack.runs) {
      require(run.count > 0);
      frames += run.count;
    }
    require(frames == stack.depth());
    switch (sample.origin) {
      case StackOrigin::kNone:
        require(stack.empty());
        break;
      case StackOrigin::kIpOnly:
        require(frames == 1);
        break;
      case StackOrigin::kRecorded:
      case StackOrigin::kUnwound:
        require(frames >= 1);
        break;
    }
    count(stack.addresses);
    if (memo.slot != capture::StackMemo::kNone) {
      remembered_[memo.slot].assign(stack.addresses.begin(), stack.addresses.end());
    }
    return {};
  }
  [[nodiscard]] bool remembers_stacks() const override { return true; }
  capture::PendingStack open_pending() override { return {}; }
  Status add_pending_sample(const Sample& /*sample*/, capture::PendingStack /*pending*/,
                            const capture::StackView& /*fallback*/) override {
    return {};
  }
  Status resolve_pending(capture::PendingStack /*pending*/,
                         const capture::StackView& /*stack*/) override {
    return {};
  }
  capture::SystemRecorder& system() override { return system_; }
  capture::BranchRecorder* branches() override { return &branches_; }
  capture::ValueRecorder* values() override { return &values_; }
  capture::FieldRecorder* sample_fields() override { return &fields_; }
  capture::LossCounters& losses() override { return losses_; }

  /// Takes values and fields back: their kinds, texts and control groups are there. Once, when all
  /// was read.
  void finish_fields() {
    const std::size_t groups = fields_.control_groups().sorted().rows.size();
    std::uint64_t found = 0;
    const Status placed = fields_.finish([&](const FieldRow& row) {
      ++found;
      require(!row.has(SampleField::kControlGroup) ||
              row.value(SampleField::kControlGroup) < groups);
      return Status{};
    });
    require(placed && found == marked_);
    const std::vector<ValueSchema> kinds = values_.kinds();
    const Status read = values_.finish(losses_, [&](const capture::FoundValue& row) {
      require(row.kind < kinds.size());
      const std::vector<ValueField>& fields = kinds[row.kind].fields;
      require(fields.size() <= kMostValueFields);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        require(fields[i].type != ValueType::kText || row.values[i] < values_.texts().size());
      }
      return Status{};
    });
    require(read.has_value());
  }

  /// Locates what branches there are. Once, when all was read.
  void finish_branches() {
    const Status done = branches_.finish(
        system_.finish(), losses_,
        [this](const BranchEdge& row) {
          require(row.count != 0 && row.mispredicted <= row.count && row.event < events_);
          return Status{};
        },
        [this](const BranchRange& row) {
          require(row.begin <= row.end && row.image != kNoImage && row.event < events_);
          return Status{};
        });
    require(done.has_value());
  }

  std::uint64_t samples = 0;
  std::uint64_t digest = 0;

 private:
  void count(std::span<const std::uint64_t> addresses) {
    ++samples;
    for (const std::uint64_t address : addresses) {
      digest = digest * 0x9E3779B97F4A7C15U + address;
    }
  }

  std::map<std::uint32_t, std::vector<std::uint64_t>> remembered_;
  std::uint32_t events_ = 0;
  std::uint64_t marked_ = 0;  // samples with fields
  capture::ValueRecorder values_;
  capture::FieldRecorder fields_;
  capture::SystemRecorder system_;
  capture::BranchRecorder branches_;
  capture::LossCounters losses_;
};

/// Reads `source`, which has `bytes` bytes; every one must be accounted for.
inline void read_perf(std::unique_ptr<io::ByteSource> source, std::uint64_t bytes,
                      PerfFuzzSink& sink) {
  perf::Input input;
  input.main = std::move(source);
  const Result<capture::ByteAccount> account = perf::read_capture(input, sink, {});
  if (account) {
    require(account->total == bytes);
    require(account->balanced());
    sink.finish_fields();
  }
}

}  // namespace stackpack::fuzz
