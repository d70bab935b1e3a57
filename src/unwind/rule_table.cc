#include "unwind/rule_table.h"

#include <bit>
#include <string_view>

namespace stackpack::unwind {

namespace {

std::uint64_t packed(const RegisterRule& rule) {
  return std::uint64_t{rule.number} << 56 | static_cast<std::uint64_t>(rule.kind) << 48 |
         std::uint64_t{rule.source} << 32 | rule.expression;
}

}  // namespace

std::uint32_t RuleTable::expression_number(std::span<const std::byte> section,
                                           std::uint64_t position, std::uint32_t size) {
  if (size > kLongestExpression || position > section.size() || size > section.size() - position) {
    return kNone;
  }
  const std::span<const std::byte> bytes =
      section.subspan(static_cast<std::size_t>(position), size);
  std::string key;
  for (const std::byte byte : bytes) {
    key.push_back(static_cast<char>(byte));
  }
  if (const auto known = expression_numbers_.find(key); known != expression_numbers_.end()) {
    return known->second;
  }
  if (expressions_.size() == kMostRules) {
    return kNone;
  }
  const auto number = static_cast<std::uint32_t>(expressions_.size());
  expressions_.emplace_back(bytes.begin(), bytes.end());
  expression_numbers_.emplace(std::move(key), number);
  return number;
}

bool RuleTable::make_register_rule(const FrameRow::Place& place, unsigned number,
                                   std::span<const std::byte> section, RegisterRule& rule) {
  rule.kind = place.kind;
  rule.number = static_cast<std::uint8_t>(number);
  switch (place.kind) {
    case RuleKind::kOffset:
    case RuleKind::kValueOffset:
      rule.offset = static_cast<std::int64_t>(place.value);
      return true;
    case RuleKind::kRegister:
      rule.source = static_cast<std::uint16_t>(place.value);
      return place.value < kRegisters;
    case RuleKind::kExpression:
    case RuleKind::kValueExpression:
      rule.expression = expression_number(section, place.value, place.size);
      return rule.expression != kNone;
    default:
      return true;
  }
}

std::uint32_t RuleTable::number(const FrameRow& row, std::span<const std::byte> section,
                                std::uint64_t return_register, bool is_signal_frame) {
  if (return_register >= kRegisters || (!row.cfa_by_expression && row.cfa_register >= kRegisters)) {
    return kNone;
  }
  FrameRule rule;
  rule.is_signal_frame = is_signal_frame;
  rule.signs_return = row.signs_return;
  rule.return_register = static_cast<std::uint8_t>(return_register);
  rule.cfa_by_expression = row.cfa_by_expression;
  if (row.cfa_by_expression) {
    rule.cfa_expression = expression_number(section, row.cfa_offset, row.cfa_size);
    if (rule.cfa_expression == kNone) {
      return kNone;
    }
  } else {
    rule.cfa_register = static_cast<std::uint8_t>(row.cfa_register);
    rule.cfa_offset = static_cast<std::int64_t>(row.cfa_offset);
  }
  if (!make_register_rule(row.registers[rule.return_register], rule.return_register, section,
                          rule.return_address)) {
    return kNone;
  }
  kept_.clear();
  constexpr std::uint64_t kAll = (std::uint64_t{1} << kRegisters) - 1;
  for (std::uint64_t left = is_signal_frame ? kAll : traits_.carried; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (row.registers[i].kind == RuleKind::kSame || i == traits_.pc) {
      continue;
    }
    if (RegisterRule made; make_register_rule(row.registers[i], i, section, made)) {
      kept_.push_back(made);
    } else {
      return kNone;
    }
  }
  return intern(rule);
}

// What `rule` and the rules of registers in kept_ say, into key_. Result: a hash of it.
std::size_t RuleTable::make_key(const FrameRule& rule) {
  key_.clear();
  key_.insert(
      key_.end(),
      {std::uint64_t{rule.cfa_by_expression} << 34 | std::uint64_t{rule.is_signal_frame} << 33 |
           std::uint64_t{rule.signs_return} << 32 | std::uint64_t{rule.cfa_register} << 8 |
           rule.return_register,
       rule.cfa_expression, static_cast<std::uint64_t>(rule.cfa_offset),
       packed(rule.return_address), static_cast<std::uint64_t>(rule.return_address.offset)});
  for (const RegisterRule& made : kept_) {
    key_.push_back(packed(made));
    key_.push_back(static_cast<std::uint64_t>(made.offset));
  }
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key_) {
    hash = (std::rotl(hash, 5) ^ word) * kMultiplier;
  }
  return static_cast<std::size_t>(hash >> (64 - kRecentBits));
}

// The number of the rule with the rules of registers in kept_.
std::uint32_t RuleTable::intern(FrameRule rule) {
  const Numbers::value_type*& recent = recent_[make_key(rule)];
  if (recent != nullptr && recent->first == key_) {
    return recent->second;
  }
  if (const auto known = numbers_.find(key_); known != numbers_.end()) {
    recent = &*known;
    return known->second;
  }
  if (rules_.size() == kMostRules) {
    return kNone;
  }
  rule.first_register = static_cast<std::uint32_t>(registers_.size());
  rule.register_count = static_cast<std::uint8_t>(kept_.size());
  registers_.insert(registers_.end(), kept_.begin(), kept_.end());
  const auto number = static_cast<std::uint32_t>(rules_.size());
  rules_.push_back(rule);
  recent = &*numbers_.emplace(key_, number).first;
  return number;
}

}  // namespace stackpack::unwind
