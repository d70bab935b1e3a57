#include "unwind/stack_walk.h"

#include <utility>

#include "unwind/stack_expression.h"

namespace stackpack::unwind {

namespace {

std::size_t slot_of(std::uint64_t address, std::uint64_t seed, unsigned bits) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>(((address ^ seed << 44) * kMultiplier) >> (64 - bits));
}

}  // namespace

StackWalker::StackWalker(Machine machine, FindCode find_code, FollowsCall follows_call)
    : traits_(traits_of(machine)),
      find_code_(std::move(find_code)),
      follows_call_(std::move(follows_call)),
      rules_(machine),
      // Nothing is at address 0 of a space that is not known, should it be asked for.
      by_space_(std::size_t{1} << kSpaceBits,
                SpaceEntry{0, ~std::uint32_t{0}, special(WalkEnd::kNoMapping)}),
      by_image_(std::size_t{1} << kImageBits) {}

StackWalker::Answer StackWalker::look_up(std::uint64_t address) {
  SpaceEntry& entry = by_space_[slot_of(address, space_, kSpaceBits)];
  last_lookup_ = address;
  if (entry.address == address && entry.space == space_) [[likely]] {
    ++counts_.space_hits;
    return entry.answer;
  }
  const Answer answer = ask(address);
  entry = {address, space_, answer};
  return answer;
}

StackWalker::Answer StackWalker::ask(std::uint64_t address) {
  const CodePlace place = find_code_(space_, address);
  switch (place.kind) {
    case CodePlace::Kind::kNowhere:
    case CodePlace::Kind::kNotCode:
      return special(WalkEnd::kNoMapping);
    case CodePlace::Kind::kNoFile:
      return kFramePointer;
    case CodePlace::Kind::kNoImage:
      return special(WalkEnd::kNoImage);
    case CodePlace::Kind::kImage:
      break;
  }
  ImageEntry& entry = by_image_[slot_of(place.address, place.image, kImageBits)];
  if (entry.address == place.address && entry.image == place.image) {
    ++counts_.image_hits;
    return entry.answer;
  }
  ++counts_.decoded;
  const CodeTables::Found found = place.tables->find(place.address, rules_);
  Answer answer = found.rule;
  switch (found.answer) {
    case TableAnswer::kRule:
      break;
    case TableAnswer::kNone:
      answer = kFramePointer;
      break;
    case TableAnswer::kEntryPoint:
      answer = special(WalkEnd::kRoot);
      break;
    case TableAnswer::kBad:
      answer = special(WalkEnd::kBadTable);
      break;
  }
  entry = {place.address, place.image, answer};
  return answer;
}

// A thread that returns from a signal handler stands after the system call, which is the last
// instruction of its function: what follows is another one, or none.
StackWalker::Answer StackWalker::look_up_leaf(const ThreadState& thread) {
  const std::uint64_t pc = registers_.values[traits_.pc];
  if (thread.in_kernel) {
    const Answer before = look_up(pc - 1);
    if (before < kFirstSpecial && rules_.rule(before).is_signal_frame) {
      return before;
    }
  }
  return look_up(pc);
}

// Why memory at `address` is not in the dump.
WalkEnd StackWalker::outside(const ThreadState& thread, std::uint64_t address) const {
  constexpr std::uint64_t kLargestStack = std::uint64_t{1} << 30;
  if (address < thread.memory.base() || address - thread.memory.base() > kLargestStack) {
    return WalkEnd::kOtherStack;
  }
  return thread.filled ? WalkEnd::kDumpTooShort : WalkEnd::kDumpCut;
}

std::optional<WalkEnd> StackWalker::find_cfa(const FrameRule& rule, const ThreadState& thread,
                                             std::uint64_t& cfa) const {
  if (!rule.cfa_by_expression) [[likely]] {
    if (!registers_.has(rule.cfa_register)) {
      return WalkEnd::kLostRegister;
    }
    cfa = registers_.values[rule.cfa_register] + static_cast<std::uint64_t>(rule.cfa_offset);
    return std::nullopt;
  }
  std::optional<std::uint64_t> missing;
  const std::optional<std::uint64_t> value = evaluate(
      rules_.expression(rule.cfa_expression), {registers_, thread.memory, &missing}, std::nullopt);
  if (!value) {
    return missing ? outside(thread, *missing) : WalkEnd::kLostRegister;
  }
  cfa = *value;
  return std::nullopt;
}

// The caller's value of a register. False: it is not known, and `why` says the reason.
bool StackWalker::find_register(const RegisterRule& rule, std::uint64_t cfa,
                                const ThreadState& thread, std::uint64_t& value,
                                WalkEnd& why) const {
  why = WalkEnd::kLostRegister;
  std::uint64_t address = 0;
  switch (rule.kind) {
    case RuleKind::kOffset:
      address = cfa + static_cast<std::uint64_t>(rule.offset);
      break;
    case RuleKind::kValueOffset:
      value = cfa + static_cast<std::uint64_t>(rule.offset);
      return true;
    case RuleKind::kSame:
      value = registers_.values[rule.number];
      return rule.number != traits_.pc && registers_.has(rule.number);
    case RuleKind::kRegister:
      value = registers_.values[rule.source];
      return registers_.has(rule.source);
    case RuleKind::kUndefined:
      return false;
    case RuleKind::kExpression:
    case RuleKind::kValueExpression: {
      const std::optional<std::uint64_t> result =
          evaluate(rules_.expression(rule.expression), {registers_, thread.memory}, cfa);
      if (!result || rule.kind == RuleKind::kValueExpression) {
        value = result.value_or(0);
        return result.has_value();
      }
      address = *result;
      break;
    }
  }
  // In an epilogue, tables go on saying where a register was saved when it has its value back. That
  // place is below the stack pointer then.
  if (address < registers_.values[traits_.stack_pointer]) {
    value = registers_.values[rule.number];
    return rule.number != traits_.pc && registers_.has(rule.number);
  }
  if (!thread.memory.read(address, value)) {
    why = outside(thread, address);
    return false;
  }
  return true;
}

// Makes `address` the next frame, where it is code of the process.
std::optional<WalkEnd> StackWalker::enter(std::uint64_t address, bool exact) {
  if (address == 0) {
    return WalkEnd::kRoot;
  }
  const Answer answer = look_up(exact ? address : address - 1);
  if (answer == special(WalkEnd::kNoMapping)) {
    return WalkEnd::kNoMapping;
  }
  if (frames_.size() == kMostFrames) {
    return WalkEnd::kTooDeep;
  }
  answer_ = answer;
  frames_.push_back(address);
  registers_.set(traits_.pc, address);
  return std::nullopt;
}

std::optional<WalkEnd> StackWalker::step_by_rule(const FrameRule& rule, const ThreadState& thread) {
  if (rule.return_address.kind == RuleKind::kUndefined) {
    return WalkEnd::kRoot;
  }
  std::uint64_t cfa = 0;
  if (const std::optional<WalkEnd> failed = find_cfa(rule, thread, cfa)) {
    return failed;
  }
  const std::uint64_t stack_pointer = registers_.values[traits_.stack_pointer];
  // A function may have nothing on the stack while its return address is in a register.
  const bool may_stay =
      all_known_ && (traits_.leaf_keeps_return || rule.return_address.kind == RuleKind::kRegister);
  if (!rule.is_signal_frame && (may_stay ? cfa < stack_pointer : cfa <= stack_pointer)) {
    return WalkEnd::kNoProgress;
  }
  std::uint64_t address = 0;
  WalkEnd why = WalkEnd::kLostRegister;
  if (!find_register(rule.return_address, cfa, thread, address, why)) {
    return why;
  }
  // All values are found before one is changed: rules speak of the callee's registers.
  const std::span<const RegisterRule> saved = rules_.registers(rule);
  std::array<std::uint64_t, kRegisters> values;  // of `saved`, set as far as they are found
  std::uint64_t found = 0;                       // a bit each
  for (std::size_t i = 0; i < saved.size(); ++i) {
    WalkEnd ignored = WalkEnd::kLostRegister;
    if (find_register(saved[i], cfa, thread, values[i], ignored)) {
      found |= std::uint64_t{1} << i;
    }
  }
  registers_.known &= rule.is_signal_frame ? ~std::uint64_t{0} : traits_.carried;
  registers_.set(traits_.stack_pointer, cfa);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (((found >> i) & 1) != 0) {
      registers_.set(saved[i].number, values[i]);
    } else {
      registers_.forget(saved[i].number);
    }
  }
  all_known_ = rule.is_signal_frame;
  if (rule.signs_return || (address & ~traits_.code_bits) != 0) {
    address &= traits_.code_bits;
  }
  return enter(address, rule.is_signal_frame);
}

std::optional<WalkEnd> StackWalker::step_by_frame_pointer(const ThreadState& thread) {
  if (!registers_.has(traits_.frame_pointer)) {
    return WalkEnd::kNoTable;
  }
  const std::uint64_t pointer = registers_.values[traits_.frame_pointer];
  const std::uint64_t stack_pointer = registers_.values[traits_.stack_pointer];
  if (pointer == 0) {
    return frames_.size() > 1 ? WalkEnd::kRoot : WalkEnd::kNoTable;
  }
  constexpr std::uint64_t kWord = 8;
  std::uint64_t next = 0;
  std::uint64_t address = 0;
  if (pointer < stack_pointer || pointer % traits_.frame_alignment != 0) {
    return WalkEnd::kNoTable;
  }
  if (!thread.memory.read(pointer, next) || !thread.memory.read(pointer + kWord, address)) {
    const WalkEnd why = outside(thread, pointer);
    return why == WalkEnd::kOtherStack ? WalkEnd::kNoTable : why;
  }
  address &= traits_.code_bits;
  // A caller may keep other things in the register. Then the frame has to be just what the stack
  // pointer refers to, with the address behind a call.
  const bool is_chained = next == 0 || next > pointer;
  if (!is_chained && !(pointer == stack_pointer && follows_call_(space_, address))) {
    return WalkEnd::kNoTable;
  }
  const std::optional<WalkEnd> ended = enter(address, false);
  if (ended) {
    return *ended == WalkEnd::kNoMapping ? WalkEnd::kNoTable : *ended;
  }
  ++counts_.frame_pointer_steps;
  registers_.known = 0;
  registers_.set(traits_.pc, address);
  registers_.set(traits_.frame_pointer, next);
  registers_.set(traits_.stack_pointer, pointer + 2 * kWord);
  all_known_ = false;
  return std::nullopt;
}

WalkEnd StackWalker::walk(std::uint32_t space, const ThreadState& thread) {
  frames_.clear();
  ++counts_.walks;
  space_ = space;
  registers_ = thread.registers;
  all_known_ = true;
  frames_.push_back(registers_.values[traits_.pc]);
  answer_ = look_up_leaf(thread);
  std::optional<WalkEnd> end;
  while (!end) {
    if (answer_ < kFirstSpecial) [[likely]] {
      end = step_by_rule(rules_.rule(answer_), thread);
    } else if (answer_ == kFramePointer || (answer_ == special(WalkEnd::kNoMapping))) {
      end = step_by_frame_pointer(thread);
    } else {
      end = static_cast<WalkEnd>(answer_ - kFirstSpecial);
    }
  }
  counts_.frames += frames_.size();
  return *end;
}

}  // namespace stackpack::unwind
