// Rules, callstacks and values of expressions of unwind tables, whole and damaged anywhere.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/byte_cursor.h"
#include "io/byte_source.h"
#include "support/damaged_answers.h"
#include "unwind/code_tables.h"
#include "unwind/stack_expression.h"
#include "unwind/stack_walk.h"

namespace stackpack::test {
namespace {

using Bytes = std::span<const std::byte>;

std::string number(std::uint64_t value) {
  return std::to_string(value) + ' ';
}

std::string text_of_rule(const unwind::RuleTable& rules, std::uint32_t index) {
  const unwind::FrameRule& rule = rules.rule(index);
  std::string text = number(rule.cfa_by_expression) + number(rule.cfa_register);
  text += number(rule.return_register) + number(rule.is_signal_frame) + number(rule.signs_return);
  text += number(rule.cfa_expression) + std::to_string(rule.cfa_offset) + ' ';
  for (const unwind::RegisterRule& one : rules.registers(rule)) {
    text += number(static_cast<std::uint64_t>(one.kind)) + number(one.number) + number(one.source);
    text += number(one.expression) + std::to_string(one.offset) + ' ';
  }
  return text;
}

std::string tables_answer(Bytes data) {
  const auto file = io::source_of_memory(data);
  auto layout = unwind::read_elf_layout(*file);
  if (!layout) {
    return message(layout.error());
  }
  std::string text = number(layout->entry) + number(layout->left_out);
  unwind::RuleTable rules(layout->machine);
  const auto code = layout->code;
  for (std::uint64_t at = 0; at < 0x4000; at += 0x110) {
    text += number(layout->address_of(at).value_or(7));
  }
  unwind::CodeTables tables(std::move(*layout), {}, 200'000);
  for (std::size_t i = 0; i < code.size() && i < 3; ++i) {
    text += number(code[i].address) + number(code[i].bytes) + number(code[i].offset);
    const std::uint64_t step = std::max<std::uint64_t>(code[i].bytes / 80, 1);
    for (std::uint64_t k = 0; k < 80; ++k) {
      const auto found = tables.find(code[i].address + k * step, rules);
      text += number(static_cast<std::uint64_t>(found.answer)) + number(found.rule);
    }
  }
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    text += text_of_rule(rules, i);
  }
  return text + number(tables.steps_left()) + number(tables.header_adds_nothing());
}

// As the fuzz target of the same name lays its input out.
std::string walk_answer(Bytes data) {
  constexpr std::uint64_t kStack = 0x70000000;
  bytes::ByteCursor in(data, 0);
  const auto kind = in.read<std::uint8_t>();
  const auto size = in.read<std::uint16_t>();
  const Bytes section = in.read_bytes(std::min<std::size_t>(size, in.remaining()));
  const Bytes stack = in.rest();
  const auto machine = (kind & 1) == 0 ? unwind::Machine::kX64 : unwind::Machine::kAarch64;
  unwind::ElfLayout layout;
  layout.machine = machine;
  layout.entry = 0x1F00;
  layout.eh_frame = {0x9000, {section.begin(), section.end()}};
  unwind::CodeTables tables(std::move(layout), {}, 100'000);
  unwind::StackWalker walker(
      machine,
      [&tables](std::uint32_t, std::uint64_t address) {
        unwind::CodePlace place;
        if (address >= 0x1000 && address < 0x2000) {
          place = {unwind::CodePlace::Kind::kImage, 0, address, &tables};
        } else if (address >= 0x2000 && address < 0x2400) {
          place.kind = unwind::CodePlace::Kind::kNoFile;
        }
        return place;
      },
      [](std::uint32_t, std::uint64_t address) { return address % 2 == 0; });
  std::string text;
  for (const std::uint64_t pc : {0x1000U, 0x1010U, 0x1018U, 0x1F00U, 0x2010U}) {
    unwind::ThreadState thread;
    bytes::ByteCursor words(stack, 0);
    for (unsigned i = 0; i < unwind::kRegisters; ++i) {
      thread.registers.set(i, words.read<std::uint64_t>());
    }
    const unwind::MachineTraits traits = unwind::traits_of(machine);
    thread.registers.set(traits.stack_pointer, kStack);
    thread.registers.set(traits.pc, pc);
    thread.memory = unwind::StackMemory(kStack, stack);
    thread.in_kernel = (kind & 2) != 0;
    thread.filled = (kind & 4) == 0;
    text += number(static_cast<std::uint64_t>(walker.walk(1, thread)));
    for (const std::uint64_t frame : walker.frames()) {
      text += number(frame);
    }
  }
  return text;
}

std::string expression_answer(Bytes data) {
  bytes::ByteCursor in(data, 0);
  const auto size = in.read<std::uint8_t>();
  const Bytes stack = in.read_bytes(size < in.remaining() ? size : 0);
  unwind::Registers registers;
  registers.set(6, 0x1010);
  registers.set(7, 0x1000);
  registers.set(16, 0x5B);
  const unwind::StackMemory memory(0x1000, stack);
  std::optional<std::uint64_t> missing;
  const auto value =
      unwind::evaluate(bytes::ByteCursor(in.rest(), 0), {registers, memory, &missing}, 0x1020);
  return number(value.value_or(7)) + number(value.has_value()) + number(missing.value_or(9));
}

// Every operation on two operands that expressions know, and on those that they do not.
void list_operations(std::string& lines) {
  constexpr unsigned kOperationsALine = 16;
  const std::uint64_t operands[] = {0, 1, 2, 7, 63, 64, 65, 0x1000, 0x1008, ~0ULL, 1ULL << 63};
  AnswerFigures answers;
  for (unsigned operation = 0; operation < 256; ++operation) {
    for (const std::uint64_t first : operands) {
      for (const std::uint64_t second : operands) {
        TestBytes bytes;
        bytes.u8(16).u64(0x1122334455667788).u64(0x99AABBCCDDEEFF00);
        bytes.u8(0x0E).u64(first).u8(0x0E).u64(second);
        answers.add(expression_answer(bytes.u8(static_cast<std::uint8_t>(operation)).bytes));
        bytes.u8(0x10).u8(0x85).u8(0x02).u8(0x22);
        answers.add(expression_answer(bytes.bytes));
      }
    }
    if (operation % kOperationsALine == kOperationsALine - 1) {
      lines += "operations to " + std::to_string(operation) + ": " + answers.text() + '\n';
      answers = {};
    }
  }
}

TEST_SUITE("damaged tables") {
  TEST_CASE("unwind tables with a byte changed give what they gave") {
    std::string lines;
    for (const std::string& path : files_of("fuzz/corpus/unwind_elf")) {
      list_damaged_answers(path, source_file(path), 250, tables_answer, lines);
    }
    for (const char* const path : {"testdata/unwind/framed", "testdata/unwind/stepped-signed"}) {
      list_damaged_answers(path, source_file(path), 120, tables_answer, lines);
    }
    for (const std::string& path : files_of("fuzz/corpus/unwind_walk")) {
      list_damaged_answers(path, source_file(path), 400, walk_answer, lines);
    }
    for (const std::string& path : files_of("fuzz/corpus/unwind_expression")) {
      list_damaged_answers(path, source_file(path), 200, expression_answer, lines);
    }
    list_operations(lines);
    check_known_lines(lines, "tests/unwind/damaged_tables.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
