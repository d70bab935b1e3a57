#include "unwind/stack_expression.h"

#include <array>
#include <cstddef>

namespace stackpack::unwind {

namespace {

// Numbers of DW_OP_*, DWARF 5, section 7.7.1.
enum Operation : std::uint8_t {
  kOpAddr = 0x03,
  kOpDeref = 0x06,
  kOpConst1u = 0x08,
  kOpConst1s = 0x09,
  kOpConst2u = 0x0a,
  kOpConst2s = 0x0b,
  kOpConst4u = 0x0c,
  kOpConst4s = 0x0d,
  kOpConst8u = 0x0e,
  kOpConst8s = 0x0f,
  kOpConstu = 0x10,
  kOpConsts = 0x11,
  kOpDup = 0x12,
  kOpDrop = 0x13,
  kOpOver = 0x14,
  kOpPick = 0x15,
  kOpSwap = 0x16,
  kOpRot = 0x17,
  kOpAbs = 0x19,
  kOpAnd = 0x1a,
  kOpDiv = 0x1b,
  kOpMinus = 0x1c,
  kOpMod = 0x1d,
  kOpMul = 0x1e,
  kOpNeg = 0x1f,
  kOpNot = 0x20,
  kOpOr = 0x21,
  kOpPlus = 0x22,
  kOpPlusUconst = 0x23,
  kOpShl = 0x24,
  kOpShr = 0x25,
  kOpShra = 0x26,
  kOpXor = 0x27,
  kOpBra = 0x28,
  kOpEq = 0x29,
  kOpGe = 0x2a,
  kOpGt = 0x2b,
  kOpLe = 0x2c,
  kOpLt = 0x2d,
  kOpNe = 0x2e,
  kOpSkip = 0x2f,
  kOpLit0 = 0x30,
  kOpLit31 = 0x4f,
  kOpBreg0 = 0x70,
  kOpBreg31 = 0x8f,
  kOpBregx = 0x92,
  kOpDerefSize = 0x94,
  kOpNop = 0x96,
};

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

template <typename Signed, typename Unsigned>
std::uint64_t extended(Unsigned value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<Signed>(value)));
}

class Evaluator {
 public:
  Evaluator(bytes::ByteCursor expression, const ExpressionInput& input)
      : in_(expression), input_(input) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> first) {
    if (first) {
      push(*first);
    }
    constexpr unsigned kMostSteps = 1024;
    for (unsigned step = 0; good_ && in_.remaining() != 0; ++step) {
      if (step == kMostSteps) {
        return std::nullopt;
      }
      perform(in_.read<std::uint8_t>());
      good_ = good_ && in_.ok();
    }
    return good_ && depth_ != 0 ? std::optional(stack_[depth_ - 1]) : std::nullopt;
  }

 private:
  void push(std::uint64_t value) {
    if (depth_ == stack_.size()) {
      good_ = false;
      return;
    }
    stack_[depth_++] = value;
  }

  std::uint64_t pop() {
    if (depth_ == 0) {
      good_ = false;
      return 0;
    }
    return stack_[--depth_];
  }

  void push_register(std::uint64_t number, std::int64_t offset) {
    good_ = good_ && input_.registers.has(number);
    if (good_) {
      push(input_.registers.values[static_cast<std::size_t>(number)] +
           static_cast<std::uint64_t>(offset));
    }
  }

  void load(unsigned size) {
    std::uint64_t value = 0;
    const std::uint64_t address = pop();
    good_ = good_ && (size == 1 || size == 2 || size == 4 || size == 8);
    if (good_ && !input_.memory.read_bytes(address, size, value)) {
      good_ = false;
      if (input_.missing != nullptr) {
        *input_.missing = address;
      }
    }
    push(value);
  }

  void pick(std::size_t below_top) {
    if (below_top >= depth_) {
      good_ = false;
      return;
    }
    push(stack_[depth_ - 1 - below_top]);
  }

  void branch(bool taken) {
    const auto distance = extended<std::int16_t>(in_.read<std::uint16_t>());
    if (taken) {
      in_.seek(in_.position() + distance);
    }
  }

  void rotate() {
    const std::uint64_t top = pop();
    const std::uint64_t second = pop();
    const std::uint64_t third = pop();
    push(top);
    push(third);
    push(second);
  }

  void perform(std::uint8_t operation) {
    if (operation >= kOpLit0 && operation <= kOpLit31) {
      push(operation - unsigned{kOpLit0});
    } else if (operation >= kOpBreg0 && operation <= kOpBreg31) {
      push_register(operation - unsigned{kOpBreg0}, read_signed_varint(in_));
    } else if (!push_constant(operation) && !move_values(operation) && !calculate_one(operation)) {
      calculate_two(operation);
    }
  }

  bool push_constant(std::uint8_t operation) {
    switch (operation) {
      case kOpAddr:
      case kOpConst8u:
      case kOpConst8s:
        push(in_.read<std::uint64_t>());
        return true;
      case kOpConst1u:
        push(in_.read<std::uint8_t>());
        return true;
      case kOpConst1s:
        push(extended<std::int8_t>(in_.read<std::uint8_t>()));
        return true;
      case kOpConst2u:
        push(in_.read<std::uint16_t>());
        return true;
      case kOpConst2s:
        push(extended<std::int16_t>(in_.read<std::uint16_t>()));
        return true;
      case kOpConst4u:
        push(in_.read<std::uint32_t>());
        return true;
      case kOpConst4s:
        push(extended<std::int32_t>(in_.read<std::uint32_t>()));
        return true;
      case kOpConstu:
        push(in_.read_varint());
        return true;
      case kOpConsts:
        push(static_cast<std::uint64_t>(read_signed_varint(in_)));
        return true;
      default:
        return false;
    }
  }

  bool move_values(std::uint8_t operation) {
    switch (operation) {
      case kOpDup:
        pick(0);
        return true;
      case kOpDrop:
        pop();
        return true;
      case kOpOver:
        pick(1);
        return true;
      case kOpPick:
        pick(in_.read<std::uint8_t>());
        return true;
      case kOpSwap: {
        const std::uint64_t top = pop();
        const std::uint64_t second = pop();
        push(top);
        push(second);
        return true;
      }
      case kOpRot:
        rotate();
        return true;
      case kOpBregx: {
        const std::uint64_t number = in_.read_varint();
        push_register(number, read_signed_varint(in_));
        return true;
      }
      case kOpDeref:
        load(8);
        return true;
      case kOpDerefSize:
        load(in_.read<std::uint8_t>());
        return true;
      case kOpBra:
        branch(pop() != 0);
        return true;
      case kOpSkip:
        branch(true);
        return true;
      case kOpNop:
        return true;
      default:
        return false;
    }
  }

  bool calculate_one(std::uint8_t operation) {
    switch (operation) {
      case kOpAbs: {
        const std::uint64_t value = pop();
        push(as_signed(value) < 0 ? 0 - value : value);
        return true;
      }
      case kOpNeg:
        push(0 - pop());
        return true;
      case kOpNot:
        push(~pop());
        return true;
      case kOpPlusUconst:
        push(pop() + in_.read_varint());
        return true;
      default:
        return false;
    }
  }

  void calculate_two(std::uint8_t operation) {
    const std::uint64_t b = pop();
    const std::uint64_t a = pop();
    switch (operation) {
      case kOpAnd:
        return push(a & b);
      case kOpOr:
        return push(a | b);
      case kOpXor:
        return push(a ^ b);
      case kOpPlus:
        return push(a + b);
      case kOpMinus:
        return push(a - b);
      case kOpMul:
        return push(a * b);
      case kOpDiv:
      case kOpMod:
        return divide(operation, a, b);
      case kOpShl:
        return push(b < 64 ? a << b : 0);
      case kOpShr:
        return push(b < 64 ? a >> b : 0);
      case kOpShra:
        return push(static_cast<std::uint64_t>(as_signed(a) >> (b < 64 ? b : 63)));
      case kOpEq:
        return push(a == b ? 1 : 0);
      case kOpNe:
        return push(a != b ? 1 : 0);
      case kOpGe:
        return push(as_signed(a) >= as_signed(b) ? 1 : 0);
      case kOpGt:
        return push(as_signed(a) > as_signed(b) ? 1 : 0);
      case kOpLe:
        return push(as_signed(a) <= as_signed(b) ? 1 : 0);
      case kOpLt:
        return push(as_signed(a) < as_signed(b) ? 1 : 0);
      default:
        good_ = false;
    }
  }

  void divide(std::uint8_t operation, std::uint64_t a, std::uint64_t b) {
    if (b == 0) {
      good_ = false;
    } else if (operation == kOpMod) {
      push(a % b);
    } else {
      // The one quotient that does not fit is that of the least number by -1.
      push(b == ~std::uint64_t{0} ? 0 - a
                                  : static_cast<std::uint64_t>(as_signed(a) / as_signed(b)));
    }
  }

  bytes::ByteCursor in_;
  const ExpressionInput& input_;
  std::array<std::uint64_t, 64> stack_{};
  std::size_t depth_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<std::uint64_t> evaluate(bytes::ByteCursor expression, const ExpressionInput& input,
                                      std::optional<std::uint64_t> first) {
  return Evaluator(expression, input).run(first);
}

std::int64_t read_signed_varint(bytes::ByteCursor& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = in.read<std::uint8_t>();
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) {
      const bool negative = (byte & 0x40U) != 0 && shift + 7 < 64;
      return as_signed(negative ? value | ~std::uint64_t{0} << (shift + 7) : value);
    }
  }
  in.skip(in.remaining() + 1);  // marks the cursor failed
  return 0;
}

}  // namespace stackpack::unwind
