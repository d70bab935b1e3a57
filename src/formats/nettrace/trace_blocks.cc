#include "formats/nettrace/trace_blocks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "formats/nettrace/nettrace_losses.h"

namespace stackpack::nettrace {

namespace {

constexpr auto kEndOfObject = std::byte{6};
constexpr auto kEndOfObjects = std::byte{1};
constexpr std::size_t kObjectHeadBytes = 15;
constexpr std::size_t kMostNameBytes = 64;
constexpr std::uint32_t kNewestBlockVersion = 2;
constexpr std::uint32_t kNewestTraceVersion = 4;
constexpr std::size_t kRowHeadBytes = 56;  // of versions 1 and 2, its size word included
constexpr std::size_t kMostTrailerBytes = 64;

struct ObjectName {
  std::string_view name;
  BlockKind kind;
};
constexpr std::array<ObjectName, 6> kObjectNames = {{
    {"Trace", BlockKind::kTrace},
    {"Microsoft.DotNet.Runtime.EventPipeFile", BlockKind::kTrace},
    {"EventBlock", BlockKind::kEvents},
    {"MetadataBlock", BlockKind::kMetadata},
    {"SPBlock", BlockKind::kSequencePoint},
    {"StackBlock", BlockKind::kStacks},
}};

BlockKind kind_of_object(std::string_view name) {
  const auto found = std::find_if(kObjectNames.begin(), kObjectNames.end(),
                                  [&](const ObjectName& known) { return known.name == name; });
  return found == kObjectNames.end() ? BlockKind::kUnknown : found->kind;
}

struct ObjectHead {
  std::uint32_t version = 0;
  BlockKind kind = BlockKind::kUnknown;
  std::string_view damage;  // a counter; empty: it is good
  std::size_t bytes = 0;    // 0: the file ends within it
};

// The tags, versions and name at the front of `head`.
ObjectHead read_object_head(std::span<const std::byte> head, bool is_nettrace) {
  ObjectHead object;
  bytes::ByteCursor in(head, 0);
  const std::uint8_t tag = is_nettrace ? 5 : 4;
  const bool begins = in.read<std::uint8_t>() == tag && in.read<std::uint8_t>() == tag &&
                      in.read<std::uint8_t>() == std::to_integer<int>(kEndOfObjects);
  object.version = in.read<std::uint32_t>();
  in.skip(sizeof(std::uint32_t));
  const auto name_bytes = in.read<std::uint32_t>();
  if (head.size() < kObjectHeadBytes) {
    return object;
  }
  if (!begins) {
    object.damage = loss::kBadObjectTag;
  } else if (name_bytes > kMostNameBytes) {
    object.damage = loss::kBadObjectName;
  } else {
    const std::string_view name = bytes::text_of(in.read_bytes(name_bytes));
    const auto end = in.read<std::uint8_t>();
    if (!in.ok()) {
      return object;
    }
    object.kind = kind_of_object(name);
    object.damage = end != std::to_integer<int>(kEndOfObject) ? loss::kBadObjectTag
                    : object.kind == BlockKind::kUnknown      ? loss::kUnknownObject
                                                              : std::string_view();
    object.bytes = in.position();
  }
  return object;
}

BlockKind kind_of_block(std::uint32_t kind) {
  return kind <= static_cast<std::uint32_t>(BlockKind::kLabels) ? static_cast<BlockKind>(kind)
                                                                : BlockKind::kUnknown;
}

}  // namespace

BlockReader::BlockReader(io::ByteSource& source, capture::LossCounters& losses)
    : reader_(source), losses_(losses) {}

void BlockReader::parsed_up_to_here() {
  account_.parsed += reader_.offset() - begin_;
  begin_ = reader_.offset();
}

Result<TraceHeader> BlockReader::open() {
  const auto head = reader_.peek(kStreamHeadBytes);
  if (!head) {
    return head.error();
  }
  const Result<StreamHead> stream =
      read_stream_head(head->first(std::min(head->size(), kStreamHeadBytes)));
  if (!stream) {
    return stream.error();
  }
  version_ = stream->version;
  is_nettrace_ = stream->is_nettrace;
  reader_.consume(stream->bytes);
  if (version_ != kNewestVersion) {
    return open_object();
  }
  Block block;
  const Result<bool> more = next_block(block);
  if (!more) {
    return more.error();
  }
  if (!*more) {
    return Error{ErrorCode::kTruncated, reader_.offset(),
                 "nettrace: the file ends before the description of the trace"};
  }
  if (block.kind != BlockKind::kTrace) {
    return Error{ErrorCode::kCorrupt, block.offset,
                 "nettrace: the first block is not of the trace"};
  }
  return read_trace_header(version_, block.content, block.offset);
}

Result<TraceHeader> BlockReader::open_object() {
  const auto head = reader_.peek(kObjectHeadBytes + kMostNameBytes + 1);
  if (!head) {
    return head.error();
  }
  const ObjectHead object = read_object_head(*head, is_nettrace_);
  if (object.bytes == 0 && object.damage.empty()) {
    return Error{ErrorCode::kTruncated, reader_.offset(),
                 "nettrace: the file ends before the description of the trace"};
  }
  if (object.bytes == 0 || !object.damage.empty() || object.kind != BlockKind::kTrace) {
    return Error{ErrorCode::kCorrupt, reader_.offset(), "nettrace: no trace object"};
  }
  if (object.version == 0 || object.version > kNewestTraceVersion ||
      (object.version == kNewestTraceVersion) != is_nettrace_) {
    return unknown_version(object.version, reader_.offset());
  }
  version_ = object.version;
  reader_.consume(object.bytes);
  const std::size_t size = trace_object_bytes(version_);
  const auto content = reader_.peek(size);
  if (!content) {
    return content.error();
  }
  Result<TraceHeader> header = read_trace_header(
      version_, content->first(std::min(size, content->size())), reader_.offset());
  if (header) {
    reader_.consume(size);
    open_object_ = version_ >= 3;
    parsed_up_to_here();
  }
  return header;
}

Result<bool> BlockReader::next(Block& block) {
  reader_.consume(static_cast<std::size_t>(std::exchange(in_content_, 0)));
  if (ended_) {
    account_.total = reader_.offset();
    return false;
  }
  const Result<bool> more = version_ >= kNewestVersion ? next_block(block)
                            : version_ >= 3            ? next_object(block)
                                                       : next_rows(block);
  if (more && !*more) {
    account_.total = reader_.offset();
  }
  return more;
}

// Bytes that nothing was made of: up to the end of the file, and what is not in the account yet.
Status BlockReader::pass_rest(capture::SkipReason reason, std::uint64_t counted_before) {
  const auto passed = reader_.skip(std::numeric_limits<std::uint64_t>::max() - reader_.offset());
  if (!passed) {
    return passed.error();
  }
  const std::uint64_t bytes = reader_.offset() - counted_before;
  ended_ = true;
  if (bytes != 0) {
    account_.skipped.add(reason, bytes);
    losses_.add(name_of(reason),
                reason == skip::kUnreadBytes ? LossKind::kDamage : LossKind::kNotice, bytes,
                counted_before);
  }
  return {};
}

Result<bool> BlockReader::structure_lost(std::string_view why, std::uint64_t where) {
  losses_.add(why, LossKind::kDamage, 1, where);
  damaged_ = true;
  const Status passed = pass_rest(skip::kUnreadBytes, begin_);
  return passed ? Result<bool>(false) : Result<bool>(passed.error());
}

// The file ends where an object or block may begin, or within the head of one.
Result<bool> BlockReader::end_of_file() {
  if (!damaged_) {
    losses_.add(loss::kNoEndOfStream, LossKind::kDamage, 1, begin_);
  }
  const Status passed = pass_rest(skip::kUnreadBytes, begin_);
  return passed ? Result<bool>(false) : Result<bool>(passed.error());
}

Result<bool> BlockReader::after_the_end() {
  parsed_up_to_here();
  const Status passed = pass_rest(skip::kBytesBehindTheEnd, begin_);
  return passed ? Result<bool>(false) : Result<bool>(passed.error());
}

// The content of a block of `size` bytes, which the reader stands at.
Result<bool> BlockReader::read_content(std::uint64_t size, Block& block) {
  block.offset = reader_.offset();
  block.whole = true;
  if (size <= io::BufferedReader::kDefaultCapacity) {
    const auto bytes = reader_.peek(static_cast<std::size_t>(size));
    if (!bytes) {
      return bytes.error();
    }
    block.content = bytes->first(std::min(static_cast<std::size_t>(size), bytes->size()));
    in_content_ = block.content.size();
  } else {
    large_.clear();
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, kMostBlock));
    while (large_.size() < wanted) {
      const auto bytes = reader_.peek(1);
      if (!bytes) {
        return bytes.error();
      }
      if (bytes->empty()) {
        break;
      }
      const auto part = bytes->first(std::min(bytes->size(), wanted - large_.size()));
      large_.insert(large_.end(), part.begin(), part.end());
      reader_.consume(part.size());
    }
    block.content = large_;
  }
  if (block.content.size() == size) {
    return true;
  }
  block.whole = false;
  damaged_ = true;
  if (block.content.size() == kMostBlock) {
    losses_.add(loss::kBlockOverLimit, LossKind::kDamage, 1, block.offset);
    account_.parsed += reader_.offset() - begin_;
    begin_ = reader_.offset();
    const auto passed = reader_.skip(size - kMostBlock);
    if (!passed) {
      return passed.error();
    }
    account_.skipped.add(skip::kUnreadBytes, *passed);
    begin_ = reader_.offset();
    return true;
  }
  losses_.add(loss::kCutBlock, LossKind::kDamage, 1, begin_);
  return true;
}

// The end has no content. Zeros after it are a part of the file that is blank.
bool BlockReader::end_is_plausible(std::uint32_t word) {
  const auto rest = reader_.peek(sizeof(std::uint32_t));
  bytes::ByteCursor in(rest ? *rest : std::span<const std::byte>(), reader_.offset());
  const bool blank = in.read<std::uint32_t>() == 0 && in.ok();
  return word == 0 && !blank;
}

Result<bool> BlockReader::next_block(Block& block) {
  parsed_up_to_here();
  const auto head = reader_.peek(sizeof(std::uint32_t));
  if (!head) {
    return head.error();
  }
  bytes::ByteCursor in(*head, reader_.offset());
  const auto word = in.read<std::uint32_t>();
  if (!in.ok()) {
    return end_of_file();
  }
  reader_.consume(sizeof(std::uint32_t));
  block.kind = kind_of_block(word >> 24);
  if (block.kind == BlockKind::kEndOfStream) {
    return end_is_plausible(word) ? after_the_end() : structure_lost(loss::kBadBlockSize, begin_);
  }
  return read_content(word & 0xFFFFFF, block);
}

Result<bool> BlockReader::end_tag() {
  const auto tag = reader_.peek(1);
  if (!tag) {
    return tag.error();
  }
  if (tag->empty()) {
    parsed_up_to_here();
    return end_of_file();
  }
  if (tag->front() != kEndOfObject) {
    return structure_lost(loss::kBadObjectTag, reader_.offset());
  }
  reader_.consume(1);
  parsed_up_to_here();
  open_object_ = false;
  return true;
}

Result<bool> BlockReader::next_object(Block& block) {
  if (open_object_) {
    if (const Result<bool> good = end_tag(); !good || !*good) {
      return good;
    }
  }
  const auto head = reader_.peek(kObjectHeadBytes + kMostNameBytes + 1);
  if (!head) {
    return head.error();
  }
  if (!head->empty() && head->front() == kEndOfObjects) {
    // One bit makes an end of the tag that begins an object.
    if (head->size() > 2 &&
        (*head)[1] == std::byte{is_nettrace_ ? std::uint8_t{5} : std::uint8_t{4}} &&
        (*head)[2] == kEndOfObjects) {
      return structure_lost(loss::kBadObjectTag, begin_);
    }
    reader_.consume(1);
    return after_the_end();
  }
  const ObjectHead object = read_object_head(*head, is_nettrace_);
  if (!object.damage.empty()) {
    return structure_lost(object.damage, begin_);
  }
  if (object.bytes == 0) {
    return end_of_file();
  }
  if (object.kind == BlockKind::kTrace) {
    return structure_lost(loss::kObjectsOutOfOrder, begin_);
  }
  if (object.version > kNewestBlockVersion) {
    return structure_lost(loss::kUnknownObjectVersion, begin_);
  }
  reader_.consume(object.bytes);
  block.kind = object.kind;
  return object_content(block);
}

Result<bool> BlockReader::object_content(Block& block) {
  const auto head = reader_.peek(2 * sizeof(std::uint32_t));
  if (!head) {
    return head.error();
  }
  bytes::ByteCursor in(*head, reader_.offset());
  const auto size = in.read<std::uint32_t>();
  if (!in.ok()) {
    return end_of_file();
  }
  if (size > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    return structure_lost(loss::kBadBlockSize, begin_);
  }
  const std::uint64_t padding = (4 - in.offset() % 4) % 4;
  if (const auto passed = reader_.skip(sizeof size + padding); !passed) {
    return passed.error();
  }
  open_object_ = true;
  return read_content(size, block);
}

// Bytes of the rows that are there as a whole. `size`: that of the last one, whole or not.
std::size_t BlockReader::pass_whole_rows(bytes::ByteCursor& in, std::uint64_t& size) {
  std::size_t whole = 0;
  while (in.remaining() >= sizeof(std::uint32_t)) {
    size = std::uint64_t{in.read<std::uint32_t>()} + sizeof(std::uint32_t);
    if (size < kRowHeadBytes || size - sizeof(std::uint32_t) > in.remaining()) {
      break;
    }
    in.skip(size - sizeof(std::uint32_t));
    whole = in.position();
  }
  return whole;
}

// Rows of events that follow each other without a block. A block is made of those in the window.
Result<bool> BlockReader::next_rows(Block& block) {
  parsed_up_to_here();
  block.kind = BlockKind::kEvents;
  block.offset = reader_.offset();
  block.whole = true;
  std::size_t wanted = kRowHeadBytes;
  while (true) {
    const auto window = reader_.peek(wanted);
    if (!window) {
      return window.error();
    }
    bytes::ByteCursor in(*window, reader_.offset());
    std::uint64_t size = 0;
    const std::size_t whole = pass_whole_rows(in, size);
    if (whole != 0) {
      block.content = window->first(whole);
      in_content_ = whole;
      return true;
    }
    if (window->size() >= wanted && size >= kRowHeadBytes && size > window->size() &&
        size <= io::BufferedReader::kDefaultCapacity) {
      wanted = static_cast<std::size_t>(size);
      continue;
    }
    if (window->empty()) {
      return end_of_file();
    }
    if (const Result<bool> trailer = is_trailer(*window); !trailer || *trailer) {
      return trailer ? after_the_end() : trailer;
    }
    block.content = *window;
    block.whole = false;
    const bool cut = window->size() < wanted || size > window->size();
    losses_.add(cut ? loss::kCutEvent : loss::kBadEvent, LossKind::kDamage, 1, block.offset);
    damaged_ = true;
    const Status passed = pass_rest(skip::kUnreadBytes, begin_);
    return passed ? Result<bool>(false) : Result<bool>(passed.error());
  }
}

// The end of a file of version 1 or 2: 06, a table of file offsets, where it is, where that is.
Result<bool> BlockReader::is_trailer(std::span<const std::byte> rest) {
  if (rest.size() > kMostTrailerBytes || rest.size() < 2 * sizeof(std::uint32_t) ||
      rest.front() != kEndOfObject) {
    return false;
  }
  bytes::ByteCursor in(rest, reader_.offset());
  in.seek(rest.size() - sizeof(std::uint32_t));
  const std::uint64_t place = in.read<std::uint32_t>();
  if (place != reader_.offset() + rest.size() - 2 * sizeof(std::uint32_t)) {
    return false;
  }
  reader_.consume(rest.size());
  return true;
}

}  // namespace stackpack::nettrace
