#include "query/selection/idle_pools.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::query {
namespace {

constexpr std::uint32_t kSleeps = 1;
constexpr std::uint32_t kIdles = 2;

struct Part {
  WaitState state;
  std::uint64_t ns;
  std::uint32_t reason = 0;
  std::uint8_t flags = 0;
};

TEST_CASE("idle pools: able to run in less than a hundredth of what is known, or idle by name") {
  struct Case {
    std::vector<Part> parts;
    bool is_idle;
  };
  const std::vector<Case> cases = {
      {{{WaitState::kBlocked, 9'901, kSleeps}, {WaitState::kRunning, 99}}, true},
      {{{WaitState::kBlocked, 9'900, kSleeps}, {WaitState::kRunning, 100}}, false},
      {{{WaitState::kRunning, 99}, {WaitState::kBlocked, 9'901, kSleeps}}, true},
      // Every way to be able to run counts, and what is not known does not.
      {{{WaitState::kBlocked, 9'900}, {WaitState::kWoken, 100}}, false},
      {{{WaitState::kBlocked, 9'900}, {WaitState::kPreempted, 100}}, false},
      {{{WaitState::kBlocked, 9'900}, {WaitState::kAwake, 100}}, false},
      // Its wait ended, so that it ran, and nobody saw for how long.
      {{{WaitState::kBlocked, 9'900}, {WaitState::kUnknown, 100}}, false},
      {{{WaitState::kBlocked, 9'900}, {WaitState::kExited, 100}}, false},
      {{{WaitState::kBlocked, 9'900, 0, kWaitOpenEnd}, {WaitState::kUnknown, 100}}, true},
      {{{WaitState::kBlocked, 9'900, 0, kWaitCut}, {WaitState::kExited, 100}}, true},
      {{{WaitState::kBlocked, 100}, {WaitState::kRunning, 1}, {WaitState::kUnknown, 9'900}}, false},
      {{{WaitState::kBlocked, 4'900},
        {WaitState::kWoken, 50},
        {WaitState::kBlocked, 5'000},
        {WaitState::kRunning, 50}},
       false},
      // By name, however much it ran; a row that is not there is no name.
      {{{WaitState::kBlocked, 10, kIdles}, {WaitState::kRunning, 9'990}}, true},
      {{{WaitState::kBlocked, 10, 3}, {WaitState::kRunning, 9'990}}, false},
      {{{WaitState::kWoken, 10, kIdles}, {WaitState::kRunning, 9'990}}, false},
      // Nobody waits who never blocked.
      {{{WaitState::kRunning, 0}}, false},
      {{{WaitState::kUnknown, 500}}, false},
      {{}, false},
      // Sums stay at the top.
      {{{WaitState::kBlocked, ~std::uint64_t{0}},
        {WaitState::kBlocked, 500},
        {WaitState::kRunning, 5}},
       true},
      {{{WaitState::kRunning, ~std::uint64_t{0}},
        {WaitState::kRunning, 500},
        {WaitState::kBlocked, 5}},
       false}};
  // Alone, and each after every other one: of another thread, or of a thread of another process.
  for (std::size_t first = 0; first < cases.size(); ++first) {
    for (std::size_t second = 0; second < cases.size(); ++second) {
      for (const bool other_process : {false, true}) {
        IdlePools pools({"", "S", "I"});
        std::uint64_t now = 0;
        const auto add = [&](const Case& given, std::uint32_t pid, std::uint32_t tid) {
          for (const Part& part : given.parts) {
            WaitInterval row;
            row.pid = pid;
            row.tid = tid;
            row.from_ns = part.ns > 10'000 ? 0 : now;
            now = row.to_ns = row.from_ns + part.ns;
            now = part.ns > 10'000 ? 0 : now;
            row.state = part.state;
            row.reason = part.reason;
            row.flags = part.flags;
            pools.add(row);
          }
        };
        const std::uint32_t pid = other_process ? 2 : 1;
        const std::uint32_t tid = other_process ? 11 : 12;
        add(cases[first], 1, 11);
        add(cases[second], pid, tid);
        pools.end_thread();
        CAPTURE(first);
        CAPTURE(second);
        CHECK(pools.has(1, 11) == cases[first].is_idle);
        CHECK(pools.has(pid, tid) == cases[second].is_idle);
        CHECK_FALSE(pools.has(2, 12));
      }
    }
  }
}

}  // namespace
}  // namespace stackpack::query
