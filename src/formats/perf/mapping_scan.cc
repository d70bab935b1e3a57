#include "formats/perf/mapping_scan.h"

#include "capture/callstack_sink.h"
#include "formats/perf/capture_reader.h"

namespace stackpack::perf {

namespace {

/// Keeps facts about the system; samples do not come.
class FactSink final : public capture::CallstackSink {
 public:
  std::uint32_t add_event(const Event& /*event*/) override { return events_++; }
  void rename_event(std::uint32_t /*index*/, std::string_view /*name*/) override {}
  using capture::CallstackSink::add_sample;
  Status add_sample(const Sample& /*sample*/, const capture::StackView& /*stack*/,
                    capture::StackMemo /*memo*/) override {
    return {};
  }
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
  capture::LossCounters& losses() override { return losses_; }

 private:
  std::uint32_t events_ = 0;
  capture::SystemRecorder system_;
  capture::LossCounters losses_;
};

}  // namespace

Result<capture::SystemTables> scan_mappings(Input& input, const capture::ReadControl& control) {
  FactSink sink;
  CaptureReader reader(sink, {nullptr, control.cancelled});
  reader.leave_out_samples();
  const Result<capture::ByteAccount> account = reader.run(input);
  if (!account) {
    return account.error();
  }
  return sink.system().finish();
}

}  // namespace stackpack::perf
