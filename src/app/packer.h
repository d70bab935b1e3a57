#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/sample_spool.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "dag/builder.h"
#include "io/output_file.h"
#include "spk/writer.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// The sink at the end of the capture phase, and the driver of the write phase: interns
/// callstacks, spools samples, collects facts; then freezes, renumbers and writes.
///
/// Use: hand it to a source as its sink, then call write() once.
/// Memory: builder, spool buffer, promises (8 bytes each) and system facts.
class Packer final : public capture::CallstackSink {
 public:
  struct Options {
    std::string scratch_directory = ".";
    std::uint64_t memory_limit = 0;                        ///< 0: none but the machine
    std::atomic<std::uint64_t>* sample_counter = nullptr;  ///< for progress; may be null
  };

  explicit Packer(const Options& options);

  std::uint32_t add_event(const Event& event) override;
  void rename_event(std::uint32_t index, std::string_view name) override;
  Status add_sample(const Sample& sample, const capture::StackView& stack) override;
  capture::PendingStack open_pending() override;
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override;
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override;
  capture::SystemRecorder& system() override { return system_; }
  capture::LossCounters& losses() override { return losses_; }

  /// What is known of the input, for the summary.
  struct Source {
    std::string kind;
    std::uint64_t bytes = 0;
    std::string fingerprint;
    capture::ByteAccount account{};  ///< where the bytes went
  };

  /// Writes everything to `out`, which the caller commits. The statistics are those in the file.
  Result<Statistics> write(io::OutputFile& out, const spk::WriterOptions& options,
                           const Source& source);

 private:
  struct NodeRef {
    std::uint32_t segment = 0;
    std::uint32_t node = 0;
  };

  Result<NodeRef> intern(const Sample& sample, const capture::StackView& stack);
  Status spool(const Sample& sample, const NodeRef& node, std::uint32_t promise);
  [[nodiscard]] StoredSample settle(const SpooledSample& spooled,
                                    const std::vector<StackId>& stack_of_node) const;

  Options options_;
  std::unique_ptr<dag::Builder> builder_;
  SampleSpool spool_;
  std::vector<NodeRef> promises_;
  std::vector<Event> events_;
  capture::SystemRecorder system_;
  capture::LossCounters losses_;
};

}  // namespace stackpack::app
