#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "formats/etl/etl_source.h"
#include "fuzz/require.h"
#include "io/byte_source.h"

namespace stackpack::fuzz {

namespace {

// Checks the contract of the sink on every call.
class StrictSink final : public capture::CallstackSink {
 public:
  std::uint32_t add_event(const Event& event) override {
    require(!event.name.empty());
    return events_++;
  }
  void rename_event(std::uint32_t index, std::string_view /*name*/) override {
    require(index < events_);
  }
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo /*memo*/) override {
    check(sample, stack);
    require(sample.origin == StackOrigin::kRecorded ? stack.depth() >= 1
            : sample.origin == StackOrigin::kIpOnly ? stack.depth() == 1
                                                    : stack.empty());
    return {};
  }
  capture::PendingStack open_pending() override {
    return static_cast<capture::PendingStack>(promises_++);
  }
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override {
    check(sample, fallback);
    require(static_cast<std::uint32_t>(pending) < promises_ && fallback.depth() <= 1);
    require(!kept_[static_cast<std::uint32_t>(pending)]);
    return {};
  }
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override {
    check_runs(stack);
    bool& kept = kept_[static_cast<std::uint32_t>(pending)];
    require(static_cast<std::uint32_t>(pending) < promises_ && !kept);
    kept = true;
    return {};
  }
  capture::SystemRecorder& system() override { return system_; }
  capture::LossCounters& losses() override { return losses_; }

 private:
  static void check_runs(const capture::StackView& stack) {
    std::uint64_t frames = 0;
    for (const capture::ModeRun& run : stack.runs) {
      require(run.count != 0);
      frames += run.count;
    }
    require(frames == stack.depth());
  }
  void check(const Sample& sample, const capture::StackView& stack) const {
    require(sample.event < events_);
    check_runs(stack);
  }

  std::uint32_t events_ = 0;
  std::uint32_t promises_ = 0;
  std::map<std::uint32_t, bool> kept_;
  capture::SystemRecorder system_;
  capture::LossCounters losses_;
};

}  // namespace

/// Any bytes as an .etl file: no crash, the sink's contract is kept, every byte is accounted for.
void etl_file(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  StrictSink sink;
  etl::TraceSummary summary;
  etl::ReadOptions options;
  options.summary = &summary;
  options.read_ahead = false;
  options.max_buffer_bytes = std::uint64_t{1} << 18;
  options.max_open_bytes = std::uint64_t{1} << 20;
  options.event_window = 64;
  const auto account = etl::read_capture(*source, sink, options);
  if (account) {
    require(account->balanced());
    (void)sink.system().finish();
  }
}

}  // namespace stackpack::fuzz
