#include "stack_stream.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "capture/callstack_sink.h"
#include "formats/perf/perf_source.h"
#include "io/byte_source.h"
#include "stackpack/reader.h"

namespace stackpack::bench {

void StackStream::add(const capture::StackView& stack, const Sample& sample) {
  Entry entry{addresses_.size(),
              static_cast<std::uint32_t>(runs_.size()),
              static_cast<std::uint32_t>(stack.runs.size()),
              static_cast<std::uint32_t>(stack.depth()),
              sample.tid,
              sample.cpu};
  addresses_.insert(addresses_.end(), stack.addresses.begin(), stack.addresses.end());
  runs_.insert(runs_.end(), stack.runs.begin(), stack.runs.end());
  entries_.push_back(entry);
  samples_.push_back(sample);
}

StackStream workload_stream(const WorkloadOptions& options) {
  StackStream stream;
  generate_workload(options, [&](const Observation& seen) {
    std::array<capture::ModeRun, 2> runs{};
    std::size_t count = 0;
    const auto depth = static_cast<std::uint32_t>(seen.addresses.size());
    if (seen.kernel_frames > 0) {
      runs[count++] = {FrameMode::kKernel, seen.kernel_frames};
    }
    if (depth > seen.kernel_frames) {
      runs[count++] = {FrameMode::kUser, depth - seen.kernel_frames};
    }
    Sample sample;
    sample.time_ns = seen.time_ns;
    sample.pid = kWorkloadPid;
    sample.tid = seen.tid;
    sample.cpu = seen.cpu;
    sample.event = static_cast<std::uint32_t>(seen.cause);
    sample.origin = StackOrigin::kRecorded;
    stream.add({seen.addresses, std::span(runs).first(count)}, sample);
  });
  return stream;
}

namespace {

// Keeps the recorded callstacks of a capture, and nothing else.
class StreamSink final : public capture::CallstackSink {
 public:
  explicit StreamSink(StackStream& stream) : stream_(stream) {}

  std::uint32_t add_event(const Event& /*event*/) override { return events_++; }
  void rename_event(std::uint32_t /*index*/, std::string_view /*name*/) override {}
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo /*memo*/) override {
    if (sample.origin == StackOrigin::kRecorded) {
      stream_.add(stack, sample);
    }
    return {};
  }
  capture::PendingStack open_pending() override {
    return static_cast<capture::PendingStack>(promises_++);
  }
  Status add_pending_sample(const Sample& /*sample*/, capture::PendingStack /*pending*/,
                            const capture::StackView& /*fallback*/) override {
    return {};
  }
  Status resolve_pending(capture::PendingStack /*pending*/,
                         const capture::StackView& stack) override {
    if (!stack.empty()) {
      stream_.add(stack, {});
    }
    return {};
  }
  capture::SystemRecorder& system() override { return system_; }
  capture::LossCounters& losses() override { return losses_; }

 private:
  StackStream& stream_;
  std::uint32_t events_ = 0;
  std::uint32_t promises_ = 0;
  capture::SystemRecorder system_;
  capture::LossCounters losses_;
};

}  // namespace

bool perf_stream(const std::string& path, StackStream& stream) {
  Result<std::unique_ptr<io::ByteSource>> source = io::open_source(path);
  if (!source) {
    return false;
  }
  perf::Input input;
  input.main = std::move(*source);
  StreamSink sink(stream);
  return perf::read_capture(input, sink, {}).has_value() && stream.size() > 0;
}

namespace {

// Frames of a reader as a source gives them.
void add_frames(std::span<const Frame> frames, const Sample& sample, StackStream& stream) {
  std::vector<std::uint64_t> addresses;
  std::vector<capture::ModeRun> runs;
  for (const Frame& frame : frames) {
    addresses.push_back(frame.address);
    if (runs.empty() || runs.back().mode != frame.mode) {
      runs.push_back({frame.mode, 0});
    }
    ++runs.back().count;
  }
  stream.add({addresses, runs}, sample);
}

}  // namespace

bool spk_stream(const std::string& path, StackStream& stream) {
  const auto reader = Reader::open(path, {std::uint64_t{1} << 30});
  if (!reader) {
    return false;
  }
  std::vector<Frame> frames;
  Status status;
  const Status read = (*reader)->samples({}, [&](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      if (sample.origin != StackOrigin::kRecorded) {
        continue;
      }
      if (status = (*reader)->callstack(sample.stack, frames); !status) {
        return false;
      }
      add_frames(frames, sample, stream);
    }
    return true;
  });
  return read && status && stream.size() > 0;
}

}  // namespace stackpack::bench
