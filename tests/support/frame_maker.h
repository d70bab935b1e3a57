// Call frame information for tests: sections of .eh_frame or .debug_frame, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/test_bytes.h"

namespace stackpack::test {

/// Instructions as bytes: {0x0c, 7, 8} defines the CFA as register 7 + 8.
using Program = std::vector<std::uint8_t>;

class FrameMaker {
 public:
  /// A section at `address`.
  explicit FrameMaker(std::uint64_t address) : address_(address) {}

  /// A CIE of version 1 with 4-byte pointers relative to their place. Result: its offset.
  std::uint64_t cie(std::string_view letters, const Program& program, std::uint8_t return_register,
                    std::uint8_t data_alignment = 0x78) {  // -8
    const std::uint64_t at = section_.bytes.size();
    TestBytes body;
    body.u32(0).u8(1).text(letters).u8(0).u8(1).u8(data_alignment).u8(return_register);
    if (letters.starts_with('z')) {
      body.u8(1).u8(0x1B);  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
    }
    add(body, program);
    return at;
  }

  /// An FDE of the code [begin, begin + size). Result: its offset.
  std::uint64_t fde(std::uint64_t cie, std::uint64_t begin, std::uint32_t size,
                    const Program& program) {
    const std::uint64_t at = section_.bytes.size();
    TestBytes body;
    body.u32(static_cast<std::uint32_t>(at + 4 - cie));
    body.u32(static_cast<std::uint32_t>(begin - (address_ + at + 8)));
    body.u32(size).u8(0);
    add(body, program);
    return at;
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    TestBytes all = section_;
    return all.u32(0).bytes;
  }
  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  void add(TestBytes& body, const Program& program) {
    for (const std::uint8_t byte : program) {
      body.u8(byte);
    }
    body.pad_to(4);
    section_.u32(static_cast<std::uint32_t>(body.bytes.size())).append(body.bytes);
  }

  std::uint64_t address_;
  TestBytes section_;
};

/// CIE of x86-64: CFA is rsp + 8, the return address is at CFA - 8.
inline const Program kX86Start = {0x0c, 7, 8, 0x80 + 16, 1};

}  // namespace stackpack::test
