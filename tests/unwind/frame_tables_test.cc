#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/frame_maker.h"
#include "unwind/cfa_program.h"
#include "unwind/code_tables.h"

using namespace stackpack;
using unwind::TableAnswer;

namespace {

constexpr std::uint64_t kCode = 0x1000;
constexpr std::uint64_t kSection = 0x9000;

unwind::ElfLayout layout_of(std::vector<std::byte> eh_frame) {
  unwind::ElfLayout layout;
  layout.entry = 0x4000;
  layout.code = {{0, 0, 0x8000}};
  layout.eh_frame = {kSection, std::move(eh_frame)};
  return layout;
}

// What the rule for an address says: CFA register and offset, then saved registers.
std::string rule_text(unwind::CodeTables& tables, std::uint64_t address) {
  unwind::RuleTable rules(unwind::Machine::kX64);
  const unwind::CodeTables::Found found = tables.find(address, rules);
  if (found.answer != TableAnswer::kRule) {
    return found.answer == TableAnswer::kNone         ? "none"
           : found.answer == TableAnswer::kEntryPoint ? "entry"
                                                      : "bad";
  }
  const unwind::FrameRule& rule = rules.rule(found.rule);
  std::string text = rule.cfa_by_expression ? "expression"
                                            : "r" + std::to_string(rule.cfa_register) + "+" +
                                                  std::to_string(rule.cfa_offset);
  for (const unwind::RegisterRule& saved : rules.registers(rule)) {
    text += " r" + std::to_string(saved.number) + "@" + std::to_string(saved.offset);
  }
  return text;
}

std::vector<std::byte> usual_section() {
  test::FrameMaker maker(kSection);
  const std::uint64_t cie = maker.cie("zR", test::kX86Start, 16);
  // push %rbp; mov %rsp,%rbp; ...; pop; ret - and another part after a jump.
  maker.fde(cie, kCode, 0x40,
            {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0a, 0x0c, 7, 8, 0x41, 0x0b});
  maker.fde(cie, kCode + 0x40, 0x10, {0x41, 0x0e, 24, 0x83, 3, 0x41, 0xc3, 0x41, 0x0a});
  maker.fde(cie, kCode + 0x60, 0x10, {0x0f, 2, 0x77, 8, 0x05, 33, 4, 0x2e, 16});
  return maker.bytes();
}

}  // namespace

TEST_SUITE("unwind tables") {
  TEST_CASE("frame tables: the row of each address") {
    unwind::CodeTables tables(layout_of(usual_section()), {});
    const std::vector<std::pair<std::uint64_t, std::string>> cases{
        {kCode - 1, "none"},
        {kCode, "r7+8"},
        {kCode + 1, "r7+16 r6@-16"},
        {kCode + 4, "r6+16 r6@-16"},
        {kCode + 0x14, "r7+8 r6@-16"},
        {kCode + 0x15, "r6+16 r6@-16"},
        {kCode + 0x3F, "r6+16 r6@-16"},
        {kCode + 0x40, "r7+8"},
        {kCode + 0x41, "r7+24 r3@-24"},
        {kCode + 0x42, "r7+24"},
        {kCode + 0x50, "none"},
        {kCode + 0x60, "expression"},
        {0x4000, "entry"},
        {0x4100, "none"},
    };
    for (const auto& [address, text] : cases) {
      CAPTURE(address);
      CHECK(rule_text(tables, address) == text);
    }
  }

  TEST_CASE("frame tables: equal rules have one number") {
    unwind::CodeTables tables(layout_of(usual_section()), {});
    unwind::RuleTable rules(unwind::Machine::kX64);
    const auto first = tables.find(kCode, rules).rule;
    CHECK(tables.find(kCode + 0x40, rules).rule == first);
    CHECK(tables.find(kCode + 1, rules).rule != first);
    CHECK(rules.size() == 2);
  }

  TEST_CASE("frame tables: a program that does not end, or damages, gives no rule") {
    const std::vector<std::pair<std::string, test::Program>> cases{
        {"unknown instruction", {0x3F}},
        {"nothing was remembered", {0x0b}},
        {"remembers without end", {0x0a, 0x0a, 0x0a, 0x0a, 0x0a}},
        {"an offset without a register", {0x0f, 1, 0x30, 0x0e, 8}},
        {"an expression that is cut", {0x0f, 0x7F, 0x30}},
        {"a CFA register that is not followed", {0x0d, 60}},
    };
    for (const auto& [name, program] : cases) {
      CAPTURE(name);
      test::FrameMaker maker(kSection);
      maker.fde(maker.cie("zR", test::kX86Start, 16), kCode, 0x40, program);
      unwind::CodeTables tables(layout_of(maker.bytes()), {});
      CHECK(rule_text(tables, kCode) == "bad");
    }
  }

  TEST_CASE("frame tables: steps of a file are bounded over all its programs") {
    test::FrameMaker maker(kSection);
    const std::uint64_t cie = maker.cie("zR", test::kX86Start, 16);
    maker.fde(cie, kCode, 0x40, test::Program(1000, 0));
    unwind::CodeTables tables(layout_of(maker.bytes()), {}, 2500);
    CHECK(rule_text(tables, kCode) == "r7+8");
    CHECK(rule_text(tables, kCode) == "r7+8");
    CHECK(rule_text(tables, kCode) == "bad");
    CHECK(tables.steps_left() == 0);
  }

  TEST_CASE("frame tables: whatever is cut or changed, nothing outside is read") {
    const std::vector<std::byte> good = usual_section();
    const auto ask_all = [](std::vector<std::byte> bytes) {
      unwind::CodeTables tables(layout_of(std::move(bytes)), {}, 100'000);
      for (std::uint64_t address = kCode; address < kCode + 0x70; ++address) {
        rule_text(tables, address);
      }
    };
    for (std::size_t size = 0; size < good.size(); ++size) {
      ask_all({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const unsigned value : {0U, 1U, 0x7FU, 0x80U, 0xFFU}) {
        std::vector<std::byte> bytes = good;
        bytes[at] = static_cast<std::byte>(value);
        ask_all(std::move(bytes));
      }
    }
  }

  TEST_CASE("frame tables: the linker's table is used, and one that lies finds nothing") {
    test::FrameMaker maker(kSection);
    const std::uint64_t cie = maker.cie("zR", test::kX86Start, 16);
    const std::uint64_t first = maker.fde(cie, kCode, 0x40, {});
    const std::uint64_t second = maker.fde(cie, kCode + 0x80, 0x40, {0x0e, 32});
    constexpr std::uint64_t kHeader = 0x8000;
    const auto header = [&](std::uint64_t at) {
      test::TestBytes bytes;
      bytes.u8(1).u8(0x1B).u8(0x03).u8(0x3B).u32(kSection - kHeader - 4).u32(2);
      bytes.u32(static_cast<std::uint32_t>(kCode - kHeader));
      bytes.u32(static_cast<std::uint32_t>(kSection + first - kHeader));
      bytes.u32(static_cast<std::uint32_t>(kCode + 0x80 - kHeader));
      bytes.u32(static_cast<std::uint32_t>(kSection + at - kHeader));
      return bytes.bytes;
    };
    const auto text_of = [&](std::uint64_t at, std::uint64_t address) {
      unwind::ElfLayout layout = layout_of(maker.bytes());
      layout.eh_frame_header = {kHeader, header(at)};
      unwind::CodeTables tables(std::move(layout), {});
      return rule_text(tables, address);
    };
    CHECK(text_of(second, kCode + 0x81) == "r7+32");
    CHECK(text_of(second, kCode + 0x10) == "r7+8");
    CHECK(text_of(second, kCode + 0x40) == "none");
    CHECK(text_of(first, kCode + 0x81) == "none");
    CHECK(text_of(cie, kCode + 0x81) == "none");
    CHECK(text_of(1'000'000, kCode + 0x81) == "none");
  }
}
