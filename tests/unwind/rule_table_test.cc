#include "unwind/rule_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "unwind/stack_memory.h"

using namespace stackpack;
using unwind::FrameRow;
using unwind::RuleTable;
using unwind::StackMemory;

TEST_SUITE("unwind rules") {
  TEST_CASE("rule table: each distinct rule has one number") {
    constexpr std::uint64_t kRules = 5000;  // more than are remembered by their hash
    RuleTable rules(unwind::Machine::kX64);
    std::vector<std::uint32_t> numbers;
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t i = 0; i < kRules; ++i) {
        FrameRow row;
        row.cfa_register = 7;
        row.cfa_offset = 8 * (i / 2);
        row.registers[16] = {static_cast<std::uint64_t>(-8), 0, unwind::RuleKind::kOffset};
        if (i % 2 == 1) {
          row.registers[3] = {static_cast<std::uint64_t>(-16), 0, unwind::RuleKind::kOffset};
        }
        row.registers[12] = {i, 0, unwind::RuleKind::kOffset};  // is not followed
        const std::uint32_t number = rules.number(row, {}, 16, false);
        if (round == 0) {
          numbers.push_back(number);
        }
        REQUIRE(number == numbers[i]);
        const unwind::FrameRule& rule = rules.rule(number);
        REQUIRE(rule.cfa_offset == static_cast<std::int64_t>(8 * (i / 2)));
        REQUIRE(rules.registers(rule).size() == i % 2);
      }
    }
    CHECK(rules.size() == kRules);
  }

  TEST_CASE("stack memory: reads on when it is asked for what is not there") {
    constexpr std::uint64_t kBase = 0x7000;
    std::vector<std::byte> bytes(64);
    std::size_t there = 16;
    std::vector<std::size_t> asked;
    const StackMemory::Load load = [&](std::size_t size) {
      asked.push_back(size);
      if (size <= 48) {
        bytes[32] = std::byte{0x2A};
        there = 48;
      }
      return there;
    };
    const StackMemory memory(kBase, bytes, there, &load);
    std::uint64_t word = 0;
    CHECK(memory.read(kBase + 8, word));
    CHECK(asked.empty());
    CHECK(memory.read(kBase + 32, word));
    CHECK(word == 0x2A);
    CHECK(asked == std::vector<std::size_t>{40});
    CHECK(memory.read(kBase + 40, word));
    CHECK(asked.size() == 1);
    CHECK_FALSE(memory.read(kBase + 56, word));  // cannot be read
    CHECK(asked == std::vector<std::size_t>{40, 64});
    CHECK_FALSE(memory.read(kBase + 60, word));
    CHECK_FALSE(memory.read(kBase - 8, word));
    CHECK(asked.size() == 2);
  }
}
