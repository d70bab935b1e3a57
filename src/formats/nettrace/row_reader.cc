#include "formats/nettrace/row_reader.h"

#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

constexpr std::size_t kBlockHeadBytes = 20;
constexpr std::uint64_t kTooLate = std::uint64_t{1} << 63;

enum CompressedFields : std::uint8_t {
  kHasMetadata = 1,
  kHasNumber = 2,
  kHasThread = 4,
  kHasStack = 8,
  kHasActivityOrLabels = 0x10,
  kHasRelatedActivity = 0x20,
  kHasPayloadSize = 0x80,
};

}  // namespace

RowReader::RowReader(const Block& block, std::uint32_t version)
    : in_(block.content, block.offset), version_(version), whole_(block.whole) {
  if (version_ < 4) {
    return;
  }
  const auto head_bytes = in_.read<std::uint16_t>();
  compressed_ = (in_.read<std::uint16_t>() & 1U) != 0;
  first_ticks_ = in_.read<std::uint64_t>();
  last_ticks_ = in_.read<std::uint64_t>();
  // In a block that the file cuts its times must hold: what follows may not belong to it.
  has_times_ = !whole_ && block.kind == BlockKind::kEvents && first_ticks_ > 0 &&
               first_ticks_ <= last_ticks_ && last_ticks_ < kTooLate;
  if (!in_.ok()) {
    stop(whole_ ? End::kBadHeader : End::kCutRow);
    return;
  }
  if (head_bytes < kBlockHeadBytes || head_bytes > in_.size()) {
    stop(End::kBadHeader);
    return;
  }
  in_.seek(head_bytes);
}

bool RowReader::stop(End end) {
  end_ = end;
  return false;
}

bool RowReader::next(EventRow& row) {
  if (end_ != End::kNotYet) {
    return false;
  }
  if (in_.remaining() == 0) {
    return stop(End::kClean);
  }
  const bool good = version_ < 4  ? next_old(row)
                    : compressed_ ? next_compressed(row)
                                  : next_plain(row);
  return good && times_hold(row);
}

bool RowReader::times_hold(EventRow& row) {
  if (row.ticks >= kTooLate ||
      (has_times_ && (row.ticks < first_ticks_ || row.ticks > last_ticks_))) {
    return stop(End::kBadRow);
  }
  return true;
}

bool RowReader::next_old(EventRow& row) {
  row.offset = in_.offset();
  bytes::ByteCursor head = in_;
  const auto size = head.read<std::uint32_t>();
  row.metadata = head.read<std::uint32_t>();
  row.thread = head.read<std::uint32_t>();
  row.capture_thread = row.thread;
  row.ticks = head.read<std::uint64_t>();
  head.skip(32);
  const auto payload_bytes = head.read<std::uint32_t>();
  if (!head.ok()) {
    return cut_or_bad();
  }
  constexpr std::uint32_t kHeadBytes = 56;  // the size of a row does not count its own word
  if (size < kHeadBytes || size > 0x7FFFFFFF || payload_bytes > size - kHeadBytes) {
    return stop(End::kBadRow);
  }
  bytes::ByteCursor whole = in_.sub(std::uint64_t{size} + sizeof size);
  if (!whole.ok()) {
    return cut_or_bad();
  }
  whole.skip(kHeadBytes);
  row.payload_offset = whole.offset();
  row.payload = whole.read_bytes(payload_bytes);
  const auto stack_bytes = whole.read<std::uint32_t>();
  row.inline_stack = whole.read_bytes(stack_bytes);
  return whole.ok() || stop(End::kBadRow);
}

bool RowReader::next_compressed(EventRow& row) {
  const std::uint64_t offset = in_.offset();
  VarintReader numbers(in_);
  const auto fields = in_.read<std::uint8_t>();
  if ((fields & kHasMetadata) != 0) {
    last_.metadata = numbers.read32();
  }
  if ((fields & kHasNumber) != 0) {
    last_.number += numbers.read32() + 1;
    last_.capture_thread = numbers.read64();
    last_.processor = numbers.read32();
  } else if (version_ >= kNewestVersion || last_.metadata != 0) {
    ++last_.number;
  }
  if ((fields & kHasThread) != 0) {
    last_.thread = numbers.read64();
  }
  if ((fields & kHasStack) != 0) {
    last_.stack = numbers.read32();
  }
  last_.ticks += numbers.read64();
  if (version_ >= kNewestVersion) {
    if ((fields & kHasActivityOrLabels) != 0) {
      numbers.read32();
    }
  } else {
    in_.skip(((fields & kHasActivityOrLabels) != 0 ? 16U : 0U) +
             ((fields & kHasRelatedActivity) != 0 ? 16U : 0U));
  }
  if ((fields & kHasPayloadSize) != 0) {
    payload_bytes_ = numbers.read32();
  }
  if (!numbers.ok()) {
    return numbers.cut() ? cut_or_bad() : stop(End::kBadRow);
  }
  last_.payload_offset = in_.offset();
  last_.payload = in_.read_bytes(payload_bytes_);
  if (!in_.ok()) {
    return cut_or_bad();
  }
  last_.offset = offset;
  row = last_;
  return true;
}

bool RowReader::next_plain(EventRow& row) {
  row = {};
  row.offset = in_.offset();
  const bool has_activities = version_ < kNewestVersion;
  const std::size_t begin = in_.position();
  const auto size = in_.read<std::uint32_t>();
  row.metadata = in_.read<std::uint32_t>() & 0x7FFFFFFFU;
  row.number = in_.read<std::uint32_t>();
  row.thread = in_.read<std::uint64_t>();
  row.capture_thread = in_.read<std::uint64_t>();
  row.processor = in_.read<std::uint32_t>();
  row.stack = in_.read<std::uint32_t>();
  row.ticks = in_.read<std::uint64_t>();
  in_.skip(has_activities ? 32U : 4U);
  const auto payload_bytes = in_.read<std::uint32_t>();
  if (!in_.ok()) {
    return cut_or_bad();
  }
  row.payload_offset = in_.offset();
  const std::uint64_t used = in_.position() - begin;
  if (std::uint64_t{size} + sizeof size < used + payload_bytes) {
    return stop(End::kBadRow);
  }
  row.payload = in_.read_bytes(payload_bytes);
  if (!in_.ok()) {
    return cut_or_bad();
  }
  std::uint64_t end = row.offset + sizeof size + size;
  end += has_activities ? (4 - end % 4) % 4 : 0;
  const std::uint64_t left = end - in_.offset();
  in_.skip(left < in_.remaining() ? left : in_.remaining());
  return true;
}

}  // namespace stackpack::nettrace
