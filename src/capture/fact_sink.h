#pragma once

#include <cstdint>
#include <string_view>

#include "capture/callstack_sink.h"

namespace stackpack::capture {

/// Keeps facts about the system, and no samples.
class FactSink final : public CallstackSink {
 public:
  /// `payloads` takes those of events, and may be null.
  explicit FactSink(PayloadSink* payloads = nullptr) : payloads_(payloads) {}

  std::uint32_t add_event(const Event& /*event*/) override { return events_++; }
  void rename_event(std::uint32_t /*index*/, std::string_view /*name*/) override {}
  using CallstackSink::add_sample;
  Status add_sample(const Sample& /*sample*/, const StackView& /*stack*/,
                    StackMemo /*memo*/) override {
    return {};
  }
  PendingStack open_pending() override { return {}; }
  Status add_pending_sample(const Sample& /*sample*/, PendingStack /*pending*/,
                            const StackView& /*fallback*/) override {
    return {};
  }
  Status resolve_pending(PendingStack /*pending*/, const StackView& /*stack*/) override {
    return {};
  }
  SystemRecorder& system() override { return system_; }
  LossCounters& losses() override { return losses_; }
  PayloadSink* payloads() override { return payloads_; }

 private:
  PayloadSink* payloads_;
  std::uint32_t events_ = 0;
  SystemRecorder system_;
  LossCounters losses_;
};

}  // namespace stackpack::capture
