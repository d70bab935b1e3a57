// Machine code as people read it, by a library that is loaded when somebody asks: capstone, of
// version 4 or 5, which the program does without until then.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::symbolize {

inline constexpr std::uint16_t kMachineX86 = 62;       ///< EM_X86_64
inline constexpr std::uint16_t kMachineAarch64 = 183;  ///< EM_AARCH64

struct Instruction {
  std::uint64_t address = 0;
  std::uint32_t size = 0;  ///< bytes
  std::string text;        ///< `mov    %rsp, %rbp`; `(bad)` for bytes that are no instruction
};

/// A piece of code of one processor.
struct MachineCode {
  std::uint16_t machine = 0;  ///< EM_* of its ELF file
  std::uint64_t address = 0;  ///< of the first byte
  std::vector<std::byte> bytes;
};

/// Whether code of this processor (EM_*) can be read: x86-64 and aarch64.
bool is_machine_known(std::uint16_t machine);

class Disassembler {
 public:
  /// Loads the library. Errors: kUnsupported: it is not there; what to do is in the text.
  static Result<std::unique_ptr<const Disassembler>> load();

  virtual ~Disassembler() = default;

  /// The instructions from the first byte to the last, in AT&T's syntax on x86-64. The code may be
  /// anybody's: to be called in a process that is confined. Errors: kResource; kUnsupported.
  [[nodiscard]] virtual Result<std::vector<Instruction>> decode(const MachineCode& code) const = 0;

 protected:
  Disassembler() = default;
  Disassembler(const Disassembler&) = default;
  Disassembler& operator=(const Disassembler&) = default;
};

/// Instructions of several pieces, as one process hands them to another, and back.
/// Errors: kCorrupt.
std::vector<std::byte> encode_instructions(std::span<const std::vector<Instruction>> pieces);
Result<std::vector<std::vector<Instruction>>> decode_instructions(std::span<const std::byte> bytes);

}  // namespace stackpack::symbolize
