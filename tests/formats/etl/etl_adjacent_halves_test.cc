// Halves of callstacks that stand next to each other are taken in one step. That must not show:
// beside another trace, the same events are taken one by one.
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/etl_losses.h"
#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

using Frames = EtlWriter::Frames;

constexpr std::uint64_t kFirstClock = 1'000'100;

std::unique_ptr<EtlReading> read_beside(const std::vector<std::vector<std::byte>>& files) {
  auto reading = std::make_unique<EtlReading>();
  std::vector<std::unique_ptr<io::ByteSource>> sources;
  std::vector<io::ByteSource*> inputs;
  for (const auto& file : files) {
    sources.push_back(io::source_of_memory(file));
    inputs.push_back(sources.back().get());
  }
  etl::ReadOptions options;
  options.summary = &reading->summary;
  REQUIRE(etl::read_session(inputs, reading->sink, options).has_value());
  return reading;
}

// Events and stacks in every order that a recorder could write, and in some that none would.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed) : random_(seed) {}

  void write(EtlWriter& out) {
    for (int i = 0; i < 400; ++i) {
      const auto cpu = static_cast<std::uint16_t>(random_() % 2);
      const auto tid = static_cast<std::uint32_t>(random_() % 4);
      const std::uint64_t event = ++clock_;
      if (random_() % 4 == 0) {
        out.context_switch(cpu, event, tid, 9);
      } else if (random_() % 8 != 0) {  // else its stack has no event
        out.sample(cpu, event, tid, kK + 1);
      }
      write_stacks(out, cpu, tid, event);
    }
  }

 private:
  void write_stacks(EtlWriter& out, std::uint16_t cpu, std::uint32_t tid, std::uint64_t event) {
    const std::uint32_t pid = tid == 0 ? 0 : random_() % 8 == 0 ? 4 : 5;
    const std::uint64_t form = random_() % 16;
    const auto other = static_cast<std::uint16_t>(1 - cpu);
    if (form == 0) {
      return;
    }
    if (form == 1) {  // complete by itself
      out.stack(cpu, ++clock_, event, pid, tid, {kK + 1, kU + 2});
      return;
    }
    if (form != 2) {
      out.stack(cpu, ++clock_, event, pid, tid, frames(kK));
    }
    if (form == 3) {  // the user half comes with a later one, or never
      return;
    }
    if (form == 4) {
      out.sample(other, ++clock_, 3 - tid, kU + 1);
    }
    const std::uint64_t own = form == 5 ? event - random_() % 4 : event;
    const std::uint32_t whose = form == 6 ? 3 - tid : tid;
    const std::uint32_t of = form == 7 ? pid + 1 : pid;
    const std::uint16_t where = form == 8 ? other : cpu;
    const std::uint64_t base = form == 9 ? kK : kU;
    Frames user = frames(base);
    if (form == 10) {
      user.insert(user.begin(), kK + 5);
    } else if (form == 11) {
      user.clear();
    }
    out.stack(where, ++clock_, own, of, whose, user);
    if (form == 12) {
      out.stack(cpu, ++clock_, event, pid, tid, frames(kU));
    }
  }

  Frames frames(std::uint64_t base) {
    Frames result(1 + random_() % 5);
    for (std::uint64_t& frame : result) {
      frame = base + random_() % 6;
    }
    return result;
  }

  std::mt19937_64 random_;
  std::uint64_t clock_ = kFirstClock;
};

std::vector<std::uint64_t> counts_of(const EtlReading& reading) {
  const etl::TraceSummary& of = reading.summary;
  return {of.joined_stacks,       of.kernel_only,      of.user_only,
          of.kernel_and_user,     of.joined_frames,    of.fragments_inline,
          of.stale_kernel_halves, of.late_user_halves, of.borrowed_user_halves,
          of.samples_with_stack,  of.timer_samples,    reading.loss(etl::loss::kOrphanStacks),
          of.context_switches};
}

TEST_SUITE_BEGIN("etl adjacent halves");

TEST_CASE("halves next to each other join as halves apart do") {
  EtlOptions options;
  options.clock_origin = 1'000'000;
  const std::vector<std::byte> other =
      make_etl(options, [](EtlWriter& out) { out.thread(0, kFirstClock - 50, 3, 77, 78); });
  std::uint64_t both = 0;
  for (const unsigned pointer_size : {8U, 8U, 8U, 8U, 4U}) {
    const std::uint64_t seed = both;
    CAPTURE(seed);
    options.pointer_size = pointer_size;
    const std::vector<std::byte> trace =
        make_etl(options, [&](EtlWriter& out) { RandomTrace(seed).write(out); });
    const auto alone = read_beside({trace});
    const auto beside = read_beside({trace, other});
    CHECK(counts_of(*alone) == counts_of(*beside));
    REQUIRE(alone->sink.rows.size() == beside->sink.rows.size());
    for (std::size_t i = 0; i < alone->sink.rows.size(); ++i) {
      CAPTURE(i);
      REQUIRE(alone->sink.rows[i].stack == beside->sink.rows[i].stack);
      REQUIRE(alone->sink.rows[i].sample == beside->sink.rows[i].sample);
    }
    both += alone->summary.kernel_and_user;
  }
  CHECK(both > 400);
}

TEST_CASE("a half on another processor that belongs between two goes first") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    out.sample(0, 100, 7, kK + 1);
    out.stack(0, 110, 100, 5, 7, {kK + 1});
    out.stack(0, 130, 100, 5, 7, {kU + 1});  // too late: the stay in the kernel is over
    out.stack(1, 120, 100, 5, 7, {kU + 2});
  }));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->listing() ==
        std::map<std::string, std::uint64_t>{{"kfffff80000000001 u7ff600000002", 1}});
  CHECK(reading->summary.late_user_halves == 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
