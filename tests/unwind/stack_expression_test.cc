#include "unwind/stack_expression.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

using namespace stackpack;

namespace {

using Code = std::vector<std::uint8_t>;

std::optional<std::uint64_t> result_of(const Code& code,
                                       std::optional<std::uint64_t> first = std::nullopt) {
  test::TestBytes bytes;
  for (const std::uint8_t byte : code) {
    bytes.u8(byte);
  }
  test::TestBytes stack;
  stack.u64(0x1122334455667788).u64(0x4000);
  unwind::Registers registers;
  registers.set(7, 0x1000);
  registers.set(16, 0x5B);
  const unwind::StackMemory memory(0x1000, stack.bytes);
  return unwind::evaluate(bytes::ByteCursor(bytes.bytes, 0), {registers, memory}, first);
}

}  // namespace

TEST_SUITE("unwind expression") {
  TEST_CASE("stack expression: operations") {
    struct Case {
      std::string name;
      Code code;
      std::optional<std::uint64_t> value;
    };
    const std::vector<Case> cases{
        {"literal", {0x3F}, 15},
        {"constants are extended by their sign", {0x09, 0xFF}, ~std::uint64_t{0}},
        {"register and offset", {0x77, 0x78}, 0xFF8},
        {"a register that is not known", {0x73, 0}, std::nullopt},
        {"a register beyond those that are followed", {0x92, 0x41, 0}, std::nullopt},
        {"a word of the stack", {0x77, 8, 0x06}, 0x4000},
        {"bytes of the stack", {0x77, 1, 0x94, 2}, 0x6677},
        {"memory that was not copied", {0x77, 9, 0x06}, std::nullopt},
        {"memory before what was copied", {0x77, 0x7F, 0x06}, std::nullopt},
        {"entry of a linkage table, before the push",
         {0x77, 8, 0x80, 0, 0x3F, 0x1a, 0x3B, 0x2a, 0x33, 0x24, 0x22},
         0x1010},
        {"division by 0", {0x31, 0x30, 0x1b}, std::nullopt},
        {"division of the least number by -1",
         {0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xFF, 0x1b},
         std::uint64_t{1} << 63},
        {"shifts past the word", {0x31, 0x08, 64, 0x24}, 0},
        {"stack is empty", {0x22}, std::nullopt},
        {"nothing is left", {0x31, 0x13}, std::nullopt},
        {"rotate", {0x31, 0x32, 0x33, 0x17, 0x13}, 1},
        {"swap", {0x31, 0x32, 0x16}, 1},
        {"branch over", {0x31, 0x31, 0x28, 1, 0, 0x13, 0x35}, 5},
        {"branch out of the expression", {0x31, 0x2f, 0x40, 0}, std::nullopt},
        {"a loop without end", {0x31, 0x2f, 0xFD, 0xFF}, std::nullopt},
        {"unknown operation", {0x31, 0xE0}, std::nullopt},
        {"cut", {0x31, 0x0c, 1}, std::nullopt},
    };
    for (const Case& test : cases) {
      CAPTURE(test.name);
      CHECK(result_of(test.code) == test.value);
    }
    CHECK(result_of({0x23, 0x10}, 0x20) == 0x30);
    CHECK(result_of(Code(65, 0x31)) == std::nullopt);  // one value too many
    CHECK(result_of(Code(64, 0x31)) == 1);
  }
}
