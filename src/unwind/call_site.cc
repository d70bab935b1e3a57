#include "unwind/call_site.h"

#include <cstdint>

#include "bytes/byte_cursor.h"

namespace stackpack::unwind {

namespace {

// Bytes of FF /2, an indirect call, with the operand that the two bytes after FF begin.
std::size_t indirect_call_bytes(unsigned operand, unsigned scaled) {
  constexpr unsigned kRegister = 3;
  constexpr unsigned kHasScaled = 4;
  constexpr unsigned kNoBase = 5;
  const unsigned mode = operand >> 6;
  const unsigned base = operand & 7U;
  const bool has_scaled = mode != kRegister && base == kHasScaled;
  const bool no_base = mode == 0 && (has_scaled ? (scaled & 7U) : base) == kNoBase;
  const std::size_t displacement = no_base || mode == 2 ? 4 : mode == 1 ? 1 : 0;
  return 2 + (has_scaled ? 1 : 0) + displacement;
}

bool ends_with_x64_call(std::span<const std::byte> code) {
  constexpr std::size_t kDirectBytes = 5;
  constexpr std::byte kDirect{0xE8};
  constexpr std::byte kIndirect{0xFF};
  constexpr unsigned kCallDigit = 2;
  if (code.size() >= kDirectBytes && code[code.size() - kDirectBytes] == kDirect) {
    return true;
  }
  for (std::size_t bytes = 2; bytes <= kMostCallBytes && bytes <= code.size(); ++bytes) {
    const auto call = code.last(bytes);
    const auto operand = std::to_integer<unsigned>(call[1]);
    const unsigned scaled = bytes > 2 ? std::to_integer<unsigned>(call[2]) : 0;
    if (call[0] == kIndirect && ((operand >> 3) & 7U) == kCallDigit &&
        indirect_call_bytes(operand, scaled) == bytes) {
      return true;
    }
  }
  return false;
}

bool ends_with_arm64_call(std::span<const std::byte> code) {
  constexpr std::size_t kBytes = 4;
  if (code.size() < kBytes) {
    return false;
  }
  bytes::ByteCursor in(code.last(kBytes), 0);
  const auto word = in.read<std::uint32_t>();
  return (word & 0xFC00'0000U) == 0x9400'0000U ||  // BL
         (word & 0xFFFF'FC1FU) == 0xD63F'0000U ||  // BLR
         (word & 0xFEFF'F800U) == 0xD63F'0800U;    // the same, authenticated
}

}  // namespace

bool ends_with_call(Machine machine, std::span<const std::byte> code) {
  return machine == Machine::kX64 ? ends_with_x64_call(code) : ends_with_arm64_call(code);
}

}  // namespace stackpack::unwind
