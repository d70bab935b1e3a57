#include "unwind/call_site.h"

#include <array>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using stackpack::unwind::ends_with_call;
using stackpack::unwind::Machine;

namespace {

std::vector<std::byte> code_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::byte> code;
  for (const std::uint8_t byte : bytes) {
    code.push_back(static_cast<std::byte>(byte));
  }
  return code;
}

// With something before it, and alone.
bool calls(Machine machine, const std::vector<std::uint8_t>& instruction) {
  std::vector<std::uint8_t> longer(8, 0x90);
  longer.insert(longer.end(), instruction.begin(), instruction.end());
  const bool alone = ends_with_call(machine, code_of(instruction));
  CHECK(ends_with_call(machine, code_of(longer)) == alone);
  return alone;
}

}  // namespace

TEST_CASE("call site: every form of an x86-64 call, as an assembler writes it") {
  const std::vector<std::vector<std::uint8_t>> forms{
      {0xE8, 1, 2, 3, 4},                    // call there
      {0xFF, 0xD0},                          // call *%rax
      {0x41, 0xFF, 0xD4},                    // call *%r12
      {0xFF, 0x13},                          // call *(%rbx)
      {0xFF, 0x14, 0x24},                    // call *(%rsp)
      {0xFF, 0x14, 0xC3},                    // call *(%rbx,%rax,8)
      {0xFF, 0x14, 0xC5, 1, 2, 3, 4},        // call *table(,%rax,8)
      {0xFF, 0x15, 1, 2, 3, 4},              // call *slot(%rip)
      {0xFF, 0x50, 0x18},                    // call *0x18(%rax)
      {0xFF, 0x54, 0x24, 0x08},              // call *8(%rsp)
      {0xFF, 0x90, 1, 2, 0, 0},              // call *0x201(%rax)
      {0xFF, 0x94, 0x24, 1, 2, 0, 0},        // call *0x201(%rsp)
      {0x41, 0xFF, 0x94, 0xDC, 1, 2, 0, 0},  // call *0x201(%r12,%rbx,8)
      {0x3E, 0xFF, 0xD0},                    // notrack call *%rax
  };
  for (std::size_t i = 0; i < forms.size(); ++i) {
    CAPTURE(i);
    CHECK(calls(Machine::kX64, forms[i]));
    std::vector<std::uint8_t> cut = forms[i];
    cut.pop_back();
    CHECK_FALSE(calls(Machine::kX64, cut));
  }
}

TEST_CASE("call site: what does not call") {
  const std::vector<std::vector<std::uint8_t>> others{
      {},
      {0x90},
      {0xC3},
      {0xE9, 1, 2, 3, 4},        // jmp there
      {0xFF, 0xE0},              // jmp *%rax
      {0xFF, 0x25, 1, 2, 3, 4},  // jmp *slot(%rip)
      {0xFF, 0x30},              // push (%rax)
      {0xFF, 0xD8},              // nothing
      {0xFF, 0x14, 0x25},        // a call that goes on
      {0xE8, 1, 2, 3, 4, 5},
  };
  for (std::size_t i = 0; i < others.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(calls(Machine::kX64, others[i]));
  }
}

TEST_CASE("call site: AArch64, direct, by a register, and authenticated") {
  const auto word = [](std::uint32_t value) {
    return std::vector<std::uint8_t>{
        static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
        static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
  };
  for (const std::uint32_t call : {0x9400'0001U, 0x97FF'FFFFU, 0xD63F'0100U, 0xD63F'03C0U,
                                   0xD63F'081FU, 0xD73F'0901U, 0xD63F'0C1FU, 0xD73F'0FE2U}) {
    CAPTURE(call);
    CHECK(calls(Machine::kAarch64, word(call)));
  }
  for (const std::uint32_t other :
       {0x1400'0001U, 0xD61F'0100U, 0xD65F'03C0U, 0xD503'201FU, 0x9800'0000U, 0xD63F'0101U}) {
    CAPTURE(other);
    CHECK_FALSE(calls(Machine::kAarch64, word(other)));
  }
  CHECK_FALSE(ends_with_call(Machine::kAarch64, code_of({0, 0, 0x94})));
}
