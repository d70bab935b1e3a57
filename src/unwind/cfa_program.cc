#include "unwind/cfa_program.h"

#include <array>
#include <optional>

#include "unwind/frame_section.h"
#include "unwind/stack_expression.h"

namespace stackpack::unwind {

namespace {

// Numbers of DW_CFA_*, DWARF 5, section 7.24. The two highest bits are an instruction, or 0 and the
// others are.
constexpr unsigned kAdvanceLoc = 1;
constexpr unsigned kOffset = 2;
constexpr unsigned kRestore = 3;
enum Instruction : std::uint8_t {
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kNegateRaState = 0x2d,  // AArch64: from here on the return address is signed, or not any more
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};

class Program {
 public:
  Program(const Fde& fde, std::uint64_t address, std::uint64_t& steps, FrameRow& row)
      : fde_(fde), address_(address), steps_(steps), row_(row), location_(fde.begin) {}

  ProgramEnd run() {
    row_ = {};
    if (const ProgramEnd end = run_part(fde_.cie.program); end != ProgramEnd::kRow) {
      return end;
    }
    initial_ = row_;
    return run_part(fde_.program);
  }

 private:
  // Until the row after the one of the address begins, or to the end.
  ProgramEnd run_part(bytes::ByteCursor in) {
    in_ = in;
    while (in_.remaining() != 0 && location_ <= address_) {
      if (steps_ == 0) {
        return ProgramEnd::kOverBudget;
      }
      --steps_;
      const auto byte = in_.read<std::uint8_t>();
      const unsigned low = byte & 0x3FU;
      switch (byte >> 6) {
        case kAdvanceLoc:
          advance(low);
          break;
        case kOffset:
          set(low, RuleKind::kOffset, in_.read_varint() * data_alignment());
          break;
        case kRestore:
          restore(low);
          break;
        default:
          perform(byte);
          break;
      }
      if (!good_ || !in_.ok()) {
        return ProgramEnd::kDamaged;
      }
    }
    return ProgramEnd::kRow;
  }

  [[nodiscard]] std::uint64_t data_alignment() const {
    return static_cast<std::uint64_t>(fde_.cie.data_alignment);
  }

  void advance(std::uint64_t delta) {
    const std::uint64_t next = location_ + delta * fde_.cie.code_alignment;
    good_ = good_ && next >= location_;
    location_ = next;
  }

  // Registers that are not followed have no row: vector registers, for one.
  void set(std::uint64_t number, RuleKind kind, std::uint64_t value, std::uint32_t size = 0) {
    if (number < kRegisters) {
      row_.registers[static_cast<std::size_t>(number)] = {value, size, kind};
    }
  }

  void restore(std::uint64_t number) {
    if (number < kRegisters) {
      const auto index = static_cast<std::size_t>(number);
      row_.registers[index] = initial_.registers[index];
    }
  }

  void set_expression(RuleKind kind) {
    const std::uint64_t number = in_.read_varint();
    const std::uint64_t size = in_.read_varint();
    const std::uint64_t position = in_.position();
    in_.skip(size);
    if (in_.ok()) {
      set(number, kind, position, static_cast<std::uint32_t>(size));
    }
  }

  void define_cfa(std::uint64_t number, std::uint64_t offset) {
    row_.cfa_by_expression = false;
    row_.cfa_register = number;
    row_.cfa_offset = offset;
  }

  void perform(std::uint8_t instruction) {
    if (!move_location(instruction) && !set_cfa(instruction) && !set_register(instruction)) {
      change_state(instruction);
    }
  }

  bool move_location(std::uint8_t instruction) {
    switch (instruction) {
      case kNop:
        return true;
      case kSetLoc: {
        // Compilers do not write it; its pointers are relative to the section, as those of FDEs.
        const auto to = read_encoded(in_, kPointerAbsolute, {});
        good_ = good_ && to && *to >= location_ && fde_.cie.pointer_encoding == kPointerAbsolute;
        location_ = to.value_or(location_);
        return true;
      }
      case kAdvanceLoc1:
        advance(in_.read<std::uint8_t>());
        return true;
      case kAdvanceLoc2:
        advance(in_.read<std::uint16_t>());
        return true;
      case kAdvanceLoc4:
        advance(in_.read<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool set_cfa(std::uint8_t instruction) {
    switch (instruction) {
      case kDefCfa: {
        const std::uint64_t number = in_.read_varint();
        define_cfa(number, in_.read_varint());
        return true;
      }
      case kDefCfaSf: {
        const std::uint64_t number = in_.read_varint();
        define_cfa(number, static_cast<std::uint64_t>(read_signed_varint(in_)) * data_alignment());
        return true;
      }
      case kDefCfaRegister:
        good_ = good_ && !row_.cfa_by_expression;
        row_.cfa_register = in_.read_varint();
        return true;
      case kDefCfaOffset:
        good_ = good_ && !row_.cfa_by_expression;
        row_.cfa_offset = in_.read_varint();
        return true;
      case kDefCfaOffsetSf:
        good_ = good_ && !row_.cfa_by_expression;
        row_.cfa_offset = static_cast<std::uint64_t>(read_signed_varint(in_)) * data_alignment();
        return true;
      case kDefCfaExpression: {
        const std::uint64_t size = in_.read_varint();
        row_.cfa_by_expression = true;
        row_.cfa_offset = in_.position();
        row_.cfa_size = static_cast<std::uint32_t>(size);
        in_.skip(size);
        return true;
      }
      default:
        return false;
    }
  }

  bool set_register(std::uint8_t instruction) {
    switch (instruction) {
      case kExpression:
        set_expression(RuleKind::kExpression);
        return true;
      case kValExpression:
        set_expression(RuleKind::kValueExpression);
        return true;
      case kOffsetExtended:
      case kValOffset: {
        const std::uint64_t number = in_.read_varint();
        set(number, instruction == kValOffset ? RuleKind::kValueOffset : RuleKind::kOffset,
            in_.read_varint() * data_alignment());
        return true;
      }
      case kOffsetExtendedSf:
      case kValOffsetSf: {
        const std::uint64_t number = in_.read_varint();
        set(number, instruction == kValOffsetSf ? RuleKind::kValueOffset : RuleKind::kOffset,
            static_cast<std::uint64_t>(read_signed_varint(in_)) * data_alignment());
        return true;
      }
      case kGnuNegativeOffsetExtended: {
        const std::uint64_t number = in_.read_varint();
        set(number, RuleKind::kOffset, 0 - in_.read_varint() * data_alignment());
        return true;
      }
      case kRegister: {
        const std::uint64_t number = in_.read_varint();
        set(number, RuleKind::kRegister, in_.read_varint());
        return true;
      }
      case kUndefined:
        set(in_.read_varint(), RuleKind::kUndefined, 0);
        return true;
      case kSameValue:
        set(in_.read_varint(), RuleKind::kSame, 0);
        return true;
      case kRestoreExtended:
        restore(in_.read_varint());
        return true;
      default:
        return false;
    }
  }

  void change_state(std::uint8_t instruction) {
    switch (instruction) {
      case kRememberState:
        good_ = good_ && remembered_ < states_.size();
        if (good_) {
          states_[remembered_++] = row_;
        }
        return;
      case kRestoreState:
        good_ = good_ && remembered_ != 0;
        if (good_) {
          row_ = *states_[--remembered_];
        }
        return;
      case kNegateRaState:
        row_.signs_return = !row_.signs_return;
        return;
      case kGnuArgsSize:
        in_.read_varint();
        return;
      default:
        good_ = false;
    }
  }

  static constexpr std::size_t kMostStates = 4;  // compilers remember one

  const Fde& fde_;
  std::uint64_t address_;
  std::uint64_t& steps_;
  FrameRow& row_;
  std::uint64_t location_;
  bytes::ByteCursor in_{{}, 0};
  FrameRow initial_;
  std::array<std::optional<FrameRow>, kMostStates> states_;
  std::size_t remembered_ = 0;
  bool good_ = true;
};

}  // namespace

ProgramEnd run_to(const Fde& fde, std::uint64_t address, std::uint64_t& steps, FrameRow& row) {
  return Program(fde, address, steps, row).run();
}

}  // namespace stackpack::unwind
