// Rules by which one frame leads to the next, each distinct one once.
//
// A module has a row of rules for nearly every instruction, and a few hundred distinct ones: all
// modules of a large capture together had 404. So caches keep numbers of rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "unwind/machine.h"

namespace stackpack::unwind {

enum class RuleKind : std::uint8_t {
  kSame,  ///< or not said
  kUndefined,
  kOffset,           ///< in memory at CFA + offset
  kValueOffset,      ///< CFA + offset
  kRegister,         ///< in another register
  kExpression,       ///< in memory at the value of an expression, which is given the CFA
  kValueExpression,  ///< the value of one
};

/// How the caller's value of one register is found.
struct RegisterRule {
  RuleKind kind = RuleKind::kSame;
  std::uint8_t number = 0;  ///< of the register
  std::uint16_t source = 0;
  std::uint32_t expression = 0;  ///< number of one of the table's
  std::int64_t offset = 0;
};

/// How a frame leads to its caller's. CFA: the value of the stack pointer before the call.
struct FrameRule {
  bool cfa_by_expression = false;
  std::uint8_t cfa_register = 0;
  std::uint8_t return_register = 0;  ///< of `registers`: the one with the return address
  bool is_signal_frame = false;      ///< the return address is that of an instruction to run
  bool signs_return = false;         ///< the return address is authenticated
  std::uint8_t register_count = 0;
  std::uint32_t first_register = 0;
  std::uint32_t cfa_expression = 0;
  std::int64_t cfa_offset = 0;
  RegisterRule return_address;
};

/// What a table says of one address, before it is made a rule. Expressions are offsets into
/// `section`.
struct FrameRow {
  struct Place {
    std::uint64_t value =
        0;                   ///< offset as two's complement, register, or position of an expression
    std::uint32_t size = 0;  ///< of an expression
    RuleKind kind = RuleKind::kSame;
  };
  bool cfa_by_expression = false;
  std::uint64_t cfa_register = ~std::uint64_t{0};  ///< not said
  std::uint64_t cfa_offset = 0;                    ///< or position of the expression
  std::uint32_t cfa_size = 0;
  bool signs_return = false;
  std::array<Place, kRegisters> registers{};
};

class RuleTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Rules and expressions that a hostile file can make us keep.
  static constexpr std::size_t kMostRules = std::size_t{1} << 16;
  static constexpr std::size_t kLongestExpression = 512;

  explicit RuleTable(Machine machine) : traits_(traits_of(machine)) {}
  RuleTable(const RuleTable&) = delete;  // it refers to its own nodes
  RuleTable& operator=(const RuleTable&) = delete;

  /// The number of the rule that `row` of `section` makes; kNone: it makes none, or there are too
  /// many. Rules of registers that are not followed are left out, but for signal frames.
  std::uint32_t number(const FrameRow& row, std::span<const std::byte> section,
                       std::uint64_t return_register, bool is_signal_frame);

  [[nodiscard]] const FrameRule& rule(std::uint32_t number) const { return rules_[number]; }
  [[nodiscard]] std::span<const RegisterRule> registers(const FrameRule& rule) const {
    return std::span(registers_).subspan(rule.first_register, rule.register_count);
  }
  [[nodiscard]] bytes::ByteCursor expression(std::uint32_t number) const {
    return bytes::ByteCursor(expressions_[number], 0);
  }
  [[nodiscard]] std::size_t size() const { return rules_.size(); }

 private:
  using Numbers = std::map<std::vector<std::uint64_t>, std::uint32_t>;
  static constexpr unsigned kRecentBits = 10;

  std::uint32_t expression_number(std::span<const std::byte> section, std::uint64_t position,
                                  std::uint32_t size);
  std::size_t make_key(const FrameRule& rule);
  std::uint32_t intern(FrameRule rule);
  bool make_register_rule(const FrameRow::Place& place, unsigned number,
                          std::span<const std::byte> section, RegisterRule& rule);

  MachineTraits traits_;
  std::vector<FrameRule> rules_;
  std::vector<RegisterRule> registers_;
  std::vector<std::vector<std::byte>> expressions_;
  std::map<std::string, std::uint32_t, std::less<>> expression_numbers_;
  Numbers numbers_;  // by what a rule says, in words
  std::array<const Numbers::value_type*, std::size_t{1} << kRecentBits> recent_{};
  std::vector<RegisterRule> kept_;  // of the rule under way
  std::vector<std::uint64_t> key_;
};

}  // namespace stackpack::unwind
