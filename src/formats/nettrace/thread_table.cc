#include "formats/nettrace/thread_table.h"

#include <string>
#include <string_view>

#include "bytes/byte_text.h"
#include "bytes/utf8.h"
#include "formats/nettrace/nettrace_losses.h"
#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

constexpr std::size_t kMostKnown = SequenceNumbers::kMostThreads;

std::uint64_t key_of_thread(const ThreadIdentity& identity) {
  return std::uint64_t{identity.pid} << 32 | identity.tid;
}

}  // namespace

ThreadIdentity ThreadTable::find(std::uint64_t thread, std::uint64_t offset) {
  if (header_.version >= kNewestVersion) {
    const auto found = rows_.find(thread);
    if (found == rows_.end()) {
      losses_.add(loss::kUnknownThread, LossKind::kDamage, 1, offset);
      return {};
    }
    return found->second;
  }
  const ThreadIdentity identity{header_.pid, short_id(thread)};
  introduce(identity, thread);
  return identity;
}

void ThreadTable::introduce(const ThreadIdentity& identity, std::uint64_t thread) {
  if (identity.tid == kUnknownId || known_.size() >= kMostKnown ||
      !known_.insert(key_of_thread(identity)).second) {
    return;
  }
  system_.thread_started(identity.pid, identity.tid, kUnknownTime);
  if (thread >= kUnknownId) {
    std::string name = "thread 0x";
    bytes::append_hex(name, thread, 16);
    system_.thread_named(identity.pid, identity.tid, kUnknownTime, name);
  }
}

std::uint32_t ThreadTable::short_id(std::uint64_t thread) {
  if (thread < kUnknownId) [[likely]] {
    return static_cast<std::uint32_t>(thread);
  }
  const auto known = long_ids_.find(thread);
  if (known != long_ids_.end()) {
    return known->second;
  }
  if (long_ids_.size() >= kMostKnown) {
    losses_.add(loss::kThreadsOverLimit, LossKind::kDamage, 1);
    return kUnknownId;
  }
  losses_.add(loss::kLongThreadIds, LossKind::kNotice, 1);
  auto id = static_cast<std::uint32_t>(thread);
  while (id == kUnknownId || known_.contains(key_of_thread({header_.pid, id}))) {
    ++id;
  }
  long_ids_.emplace(thread, id);
  return id;
}

void ThreadTable::add_block(const Block& block, SequenceNumbers& numbers) {
  bytes::ByteCursor in(block.content, block.offset);
  while (in.remaining() >= sizeof(std::uint16_t)) {
    const std::uint64_t offset = in.offset();
    const bytes::ByteCursor row = in.sub(in.read<std::uint16_t>());
    if (!in.ok()) {
      losses_.add(loss::kBadThread, LossKind::kDamage, 1, offset);
      return;
    }
    if (!add_row(row, offset, numbers)) {
      losses_.add(loss::kBadThread, LossKind::kDamage, 1, offset);
    }
  }
}

bool ThreadTable::add_row(bytes::ByteCursor row, std::uint64_t offset, SequenceNumbers& numbers) {
  enum Facts : std::uint8_t { kName = 1, kProcess = 2, kThread = 3, kPair = 4 };
  const std::uint64_t index = row.read_varint();
  std::uint64_t pid = header_.pid;
  std::uint64_t thread = ~std::uint64_t{0};
  std::string_view name;
  bool more = true;
  while (more && row.ok() && row.remaining() != 0) {
    switch (row.read<std::uint8_t>()) {
      case kName:
        name = read_text8(row);
        break;
      case kProcess:
        pid = row.read_varint();
        break;
      case kThread:
        thread = row.read_varint();
        break;
      case kPair:
        read_text8(row);
        read_text8(row);
        break;
      default:
        more = false;  // the size of what is not known is not, either
    }
  }
  if (!row.ok()) {
    return false;
  }
  if (rows_.contains(index)) {
    losses_.add(loss::kThreadIndexTwice, LossKind::kDamage, 1, offset);
  } else if (rows_.size() >= kMostKnown) {
    losses_.add(loss::kThreadsOverLimit, LossKind::kDamage, 1, offset);
    return true;
  }
  const ThreadIdentity identity{pid < kUnknownId ? static_cast<std::uint32_t>(pid) : kUnknownId,
                                thread == ~std::uint64_t{0} ? kUnknownId : short_id(thread)};
  rows_.insert_or_assign(index, identity);
  introduce(identity, thread);
  if (!name.empty() && identity.tid != kUnknownId) {
    system_.thread_named(identity.pid, identity.tid, kUnknownTime, bytes::valid_utf8(name));
  }
  numbers.thread_appears(index);
  return true;
}

void ThreadTable::remove_block(const Block& block, SequenceNumbers& numbers) {
  bytes::ByteCursor in(block.content, block.offset);
  while (in.remaining() != 0) {
    const std::uint64_t offset = in.offset();
    const std::uint64_t index = in.read_varint();
    const std::uint32_t last = read_varint32(in);
    if (!in.ok()) {
      losses_.add(loss::kBadThread, LossKind::kDamage, 1, offset);
      return;
    }
    if (!numbers.thread_is_gone(index, last, offset)) {
      losses_.add(loss::kUnknownThread, LossKind::kDamage, 1, offset);
    }
    rows_.erase(index);
  }
}

}  // namespace stackpack::nettrace
