#include "formats/nettrace/stack_table.h"

#include "bytes/byte_cursor.h"
#include "formats/nettrace/nettrace_losses.h"

namespace stackpack::nettrace {

namespace {

constexpr std::size_t kMostSkippedIds = 4096;

}  // namespace

void StackTable::forget() {
  addresses_.clear();
  stacks_.clear();
  numbers_.clear();
  far_numbers_.clear();
}

void StackTable::add_block(const Block& block) {
  bytes::ByteCursor in(block.content, block.offset);
  const auto first = in.read<std::uint32_t>();
  const auto count = in.read<std::uint32_t>();
  if (!in.ok()) {
    losses_.add(loss::kBadStackBlock, LossKind::kDamage, 1, block.offset);
    return;
  }
  std::uint32_t taken = 0;
  while (in.remaining() >= sizeof(std::uint32_t) && taken < count) {
    const std::uint64_t offset = in.offset();
    const auto size = in.read<std::uint32_t>();
    const std::span<const std::byte> stack = in.read_bytes(size);
    if (!in.ok()) {
      losses_.add(block.whole ? loss::kBadStack : loss::kCutStack, LossKind::kDamage, 1, offset);
      break;
    }
    keep(first + taken, stack, offset);
    ++taken;
  }
  if (taken != count && block.whole) {
    losses_.add(loss::kStackCount, LossKind::kDamage, 1, block.offset);
  }
}

void StackTable::keep(std::uint32_t id, std::span<const std::byte> stack, std::uint64_t offset) {
  if (stacks_.size() >= kMostStacks ||
      addresses_.size() + stack.size() / pointer_size_ > kMostFrames) {
    losses_.add(loss::kStacksOverLimit, LossKind::kDamage, 1, offset);
    return;
  }
  if (number_of(id) != 0) {
    losses_.add(loss::kStackIdTwice, LossKind::kDamage, 1, offset);
  }
  const std::size_t begin = addresses_.size();
  append_addresses(stack, offset, addresses_);
  stacks_.push_back({begin, static_cast<std::uint32_t>(addresses_.size() - begin)});
  const auto number = static_cast<std::uint32_t>(stacks_.size());
  if (id < numbers_.size()) {
    numbers_[id] = number;
  } else if (id <= numbers_.size() + kMostSkippedIds && id < kMostStacks) {
    numbers_.resize(std::size_t{id} + 1);
    numbers_[id] = number;
  } else {
    far_numbers_[id] = number;
  }
}

void StackTable::append_addresses(std::span<const std::byte> stack, std::uint64_t offset,
                                  std::vector<std::uint64_t>& addresses) {
  if (stack.size() % pointer_size_ != 0) {
    losses_.add(loss::kOddStack, LossKind::kDamage, 1, offset);
  }
  bytes::ByteCursor in(stack, offset);
  while (in.remaining() >= pointer_size_) {
    addresses.push_back(pointer_size_ == 8 ? in.read<std::uint64_t>() : in.read<std::uint32_t>());
  }
}

std::uint32_t StackTable::number_of(std::uint32_t id) const {
  if (id < numbers_.size() && numbers_[id] != 0) {
    return numbers_[id];
  }
  const auto far = far_numbers_.find(id);
  return far == far_numbers_.end() ? 0 : far->second;
}

StackTable::Found StackTable::find(std::uint32_t id) const {
  const std::uint32_t number = number_of(id);
  if (number == 0) {
    return {};
  }
  const Stack& stack = stacks_[number - 1];
  return {true, std::span(addresses_).subspan(stack.begin, stack.count)};
}

std::span<const std::uint64_t> StackTable::read_inline(std::span<const std::byte> stack,
                                                       std::uint64_t offset) {
  inline_.clear();
  append_addresses(stack, offset, inline_);
  return inline_;
}

}  // namespace stackpack::nettrace
