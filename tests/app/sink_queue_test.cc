#include "app/convert/sink_queue.h"

#include <new>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"

using stackpack::Error;
using stackpack::ErrorCode;
using stackpack::FrameMode;
using stackpack::Sample;
using stackpack::StackOrigin;
using stackpack::Status;
using stackpack::app::SinkQueue;
using stackpack::capture::CallstackSink;
using stackpack::capture::ModeRun;
using stackpack::capture::PendingStack;
using stackpack::capture::StackView;
using stackpack::test::CollectingSink;

namespace {

// The same calls for every sink: events, samples, pending callstacks resolved late, names that come
// late.
void feed(CallstackSink& sink, std::size_t count) {
  std::mt19937_64 random(5);
  std::vector<PendingStack> pending_stacks;
  std::uint32_t known = 0;  // slots
  sink.add_event({"first", false});
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::uint64_t> addresses(random() % 40);
    for (std::uint64_t& address : addresses) {
      address = random() % 1000;
    }
    std::vector<ModeRun> runs;
    const auto depth = static_cast<std::uint32_t>(addresses.size());
    if (depth > 2) {
      runs = {{FrameMode::kKernel, 2}, {FrameMode::kUser, depth - 2}};
    } else if (depth > 0) {
      runs = {{FrameMode::kUser, depth}};
    }
    Sample sample;
    sample.time_ns = i;
    sample.origin = StackOrigin::kRecorded;
    const StackView stack{addresses, runs};
    switch (random() % 12) {
      case 0:
        pending_stacks.push_back(sink.open_pending());
        REQUIRE(sink.add_pending_sample(sample, pending_stacks.back(), {}).has_value());
        break;
      case 1:
        if (!pending_stacks.empty()) {
          REQUIRE(sink.resolve_pending(pending_stacks.back(), stack).has_value());
          pending_stacks.pop_back();
        }
        break;
      case 2:
        sample.event = sink.add_event({"event " + std::to_string(i), true});
        sink.rename_event(sample.event, "named " + std::to_string(i));
        REQUIRE(sink.add_sample(sample, stack).has_value());
        break;
      case 3:
        REQUIRE(sink.add_sample(sample, stack, {known++, false}).has_value());
        break;
      case 4:
        if (known > 0) {
          const auto slot = static_cast<std::uint32_t>(random() % known);
          REQUIRE(sink.add_sample(sample, {}, {slot, true}).has_value());
        }
        break;
      default:
        REQUIRE(sink.add_sample(sample, stack).has_value());
    }
  }
}

class FailingSink final : public stackpack::capture::CallstackSink {
 public:
  explicit FailingSink(std::uint64_t good) : good_(good) {}
  std::uint32_t add_event(const stackpack::Event&) override { return 0; }
  void rename_event(std::uint32_t, std::string_view) override {}
  Status add_sample(const Sample&, const StackView&, stackpack::capture::StackMemo) override {
    ++calls;
    return calls > good_ ? Status(Error{ErrorCode::kLimit, 7, "full"}) : Status{};
  }
  PendingStack open_pending() override { return {}; }
  Status add_pending_sample(const Sample&, PendingStack, const StackView&) override { return {}; }
  Status resolve_pending(PendingStack, const StackView&) override { return {}; }
  stackpack::capture::SystemRecorder& system() override { return system_; }
  stackpack::capture::LossCounters& losses() override { return losses_; }

  std::uint64_t calls = 0;

 private:
  std::uint64_t good_;
  stackpack::capture::SystemRecorder system_;
  stackpack::capture::LossCounters losses_;
};

}  // namespace

TEST_CASE("sink queue: the sink sees the same calls in the same order") {
  constexpr std::size_t kCount = 30'000;  // many batches
  CollectingSink direct;
  feed(direct, kCount);
  CollectingSink after_queue;
  SinkQueue queue(after_queue);
  feed(queue, kCount);
  REQUIRE(queue.finish().has_value());
  CHECK(after_queue.events == direct.events);
  CHECK(after_queue.pending_stacks == direct.pending_stacks);
  CHECK(after_queue.known_samples == direct.known_samples);
  CHECK(direct.known_samples > 1000);
  REQUIRE(after_queue.rows.size() == direct.rows.size());
  for (std::size_t i = 0; i < direct.rows.size(); ++i) {
    REQUIRE(after_queue.rows[i].sample == direct.rows[i].sample);
    REQUIRE(after_queue.rows[i].stack == direct.rows[i].stack);
    REQUIRE(after_queue.rows[i].pending == direct.rows[i].pending);
  }
}

TEST_CASE("sink queue: it remembers stacks where its sink does") {
  CollectingSink sink;
  sink.remembers = false;
  CHECK_FALSE(SinkQueue(sink).remembers_stacks());
  sink.remembers = true;
  CHECK(SinkQueue(sink).remembers_stacks());
}

TEST_CASE(
    "sink queue: an error of the sink reaches the source, and nothing is delivered after it") {
  FailingSink sink(100);
  SinkQueue queue(sink);
  bool seen = false;
  for (std::size_t i = 0; i < 1'000'000 && !seen; ++i) {
    seen = !queue.add_sample({}, {});
  }
  CHECK(seen);
  const Status status = queue.finish();
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::kLimit);
  CHECK(sink.calls == 101);
}

TEST_CASE("sink queue: destruction without finish ends the thread") {
  CollectingSink sink;
  {
    SinkQueue queue(sink);
    queue.add_event({"event", false});
    REQUIRE(queue.add_sample({}, {}).has_value());
  }
  CHECK(sink.rows.size() == 1);
}

TEST_CASE("sink queue: memory that runs out in the sink is an error for the source") {
  class GreedySink final : public stackpack::test::CollectingSink {
   public:
    Status add_sample(const Sample&, const StackView&, stackpack::capture::StackMemo) override {
      throw std::bad_alloc();
    }
  };
  for (const std::size_t samples : {std::size_t{1}, std::size_t{200'000}}) {
    CAPTURE(samples);
    GreedySink sink;
    SinkQueue queue(sink);
    for (std::size_t i = 0; i < samples && queue.add_sample({}, {}); ++i) {
    }
    const Status status = queue.finish();
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code == ErrorCode::kResource);
    CHECK(status.error().what == "out of memory");
  }
}
