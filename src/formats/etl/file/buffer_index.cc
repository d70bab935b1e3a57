#include "formats/etl/file/buffer_index.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "formats/etl/etl_losses.h"
#include "formats/etl/file/buffer_header.h"
#include "scratch/spill_records.h"

namespace stackpack::etl {

using capture::SkipReason;

namespace {

constexpr std::uint64_t kResyncSequences = 1024;  // how far ahead a resumed walk may be
constexpr std::uint64_t kPlausibleGap = std::uint64_t{1} << 20;
constexpr std::uint16_t kMostSessions = 0x7000;
constexpr std::size_t kCompressedKept = 16;
constexpr std::size_t kScanChunk = std::size_t{1} << 18;

using HeaderBytes = std::array<std::byte, kBufferHeaderBytes>;

class IndexWalk {
 public:
  IndexWalk(io::ByteSource& input, const LogFileHeader& header, const IndexLimits& limits,
            BufferIndex& index, capture::LossCounters& losses, capture::ByteAccount& account)
      : input_(input),
        header_(header),
        limits_(limits),
        index_(index),
        losses_(losses),
        account_(account),
        file_size_(input.size().value_or(0)) {}

  Status run() {
    const Status walked = walk();
    if (index_.count != 0) {
      index_.buffers.set(index_.count - 1, last_);
    }
    return walked;
  }

 private:
  Status walk() {
    while (offset_ < file_size_) {
      if (limits_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, offset_, "etl: cancelled"};
      }
      if (file_size_ - offset_ < kBufferHeaderBytes) {
        losses_.add(name_of(skip::kCutBuffers), LossKind::kDamage, 1, offset_);
        account_.skipped.add(skip::kCutBuffers, file_size_ - offset_);
        return {};
      }
      HeaderBytes bytes{};
      if (const Status read = io::read_exactly_at(input_, offset_, bytes, "etl: buffer header");
          !read) {
        return read;
      }
      const BufferHeader buffer = parse_buffer_header(bytes);
      if (buffer.size >= kBufferHeaderBytes && buffer.size <= limits_.max_buffer_bytes) {
        take(buffer, buffer.size);
        continue;
      }
      const Result<bool> goes_on = step_over_damage(buffer, bytes);
      if (!goes_on) {
        return goes_on.error();
      }
      if (!*goes_on) {
        return {};
      }
    }
    return {};
  }

  void take(const BufferHeader& buffer, std::uint32_t size) {
    const bool is_header = buffer.type == kBufferLogHeader || index_.count == 0;
    if (is_header && index_.count != 0) {
      sessions_ = std::min(static_cast<std::uint16_t>(sessions_ + 1), kMostSessions);
      losses_.add(loss::kAppendedSessions, LossKind::kNotice, 1, offset_);
    }
    const auto session = static_cast<std::uint16_t>(2 * sessions_ + (is_header ? 0 : 1));
    if ((buffer.flags & kBufferEventsLost) != 0) {
      losses_.add(loss::kBuffersFlaggedEventsLost, LossKind::kRecorder, 1, offset_);
    }
    if ((buffer.flags & kBufferBufferLost) != 0) {
      losses_.add(loss::kBuffersFlaggedBufferLost, LossKind::kRecorder, 1, offset_);
    }
    if (index_.count != 0) {
      index_.buffers.set(index_.count - 1, last_);
    }
    last_ = {offset_, buffer.sequence, size, buffer.processor, session};
    ++index_.count;
    if (buffer.compressed() && index_.first_compressed.size() < kCompressedKept) {
      index_.first_compressed.push_back(last_);
    }
    previous_sequence_ = buffer.sequence;
    offset_ += size;
  }

  // A header whose size cannot be. True: the walk goes on at offset_.
  Result<bool> step_over_damage(const BufferHeader& buffer, const HeaderBytes& bytes) {
    const bool blank = std::all_of(bytes.begin(), bytes.end(),
                                   [](std::byte byte) { return byte == std::byte{0}; });
    if (blank) {
      const Result<bool> unused = is_blank_to_end();
      if (!unused) {
        return unused.error();
      }
      if (*unused) {  // the tail of a file whose space was reserved in advance
        account_.padding += file_size_ - offset_;
        losses_.add(loss::kUnusedTailBytes, LossKind::kNotice, file_size_ - offset_, offset_);
        return false;
      }
    }
    losses_.add(loss::kBadBufferSizes, LossKind::kDamage, 1, offset_);
    const std::uint64_t from = (index_.count == 0 ? offset_ : last_.offset) + kBufferHeaderBytes;
    const Result<std::optional<std::uint64_t>> found = find_next_buffer(from);
    if (!found) {
      return found.error();
    }
    if (!*found) {
      skip(skip::kSkippedTailBytes, file_size_ - offset_);
      return false;
    }
    resume_at(**found, buffer);
    return true;
  }

  // Whether nothing but zeros follows.
  Result<bool> is_blank_to_end() {
    std::vector<std::byte> chunk(kScanChunk);
    for (std::uint64_t at = offset_; at < file_size_;) {
      if (limits_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, at, "etl: cancelled"};
      }
      const Result<std::size_t> got = input_.read_at(at, chunk);
      if (!got) {
        return got.error();
      }
      const std::span<const std::byte> bytes(chunk.data(), *got);
      if (bytes.empty()) {
        break;
      }
      if (std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; })) {
        return false;
      }
      at += bytes.size();
    }
    return true;
  }

  // The size of the last buffer was wrong (it led past `next`), or that of the buffer at offset_.
  void resume_at(std::uint64_t next, const BufferHeader& buffer) {
    if (next < offset_) {
      last_.size = static_cast<std::uint32_t>(next - last_.offset);
      offset_ = next;
      return;
    }
    const std::uint64_t gap = next - offset_;
    if (plausible(buffer) && gap >= kBufferHeaderBytes && gap <= limits_.max_buffer_bytes) {
      take(buffer, static_cast<std::uint32_t>(gap));
      return;
    }
    skip(skip::kSkippedBufferBytes, gap);
    offset_ = next;
  }

  void skip(SkipReason reason, std::uint64_t bytes) {
    account_.skipped.add(reason, bytes);
    losses_.add(name_of(reason), LossKind::kDamage, bytes, offset_);
  }

  // Everything of a header but its size.
  [[nodiscard]] bool plausible(const BufferHeader& buffer) const {
    const std::uint64_t most = std::max<std::uint64_t>(header_.buffer_size, kBufferHeaderBytes);
    return buffer.type <= kBufferDebugInfo && (buffer.flags & ~0xFFU) == 0 && buffer.state <= 6 &&
           buffer.event_bytes() != 0 && buffer.event_bytes() <= most - kBufferHeaderBytes &&
           buffer.sequence > previous_sequence_ &&
           buffer.sequence - previous_sequence_ <= kResyncSequences;
  }

  // The first place from `from` on which begins like a buffer.
  Result<std::optional<std::uint64_t>> find_next_buffer(std::uint64_t from) {
    std::vector<std::byte> chunk(kScanChunk + kBufferHeaderBytes);
    for (std::uint64_t at = from; at < file_size_; at += kScanChunk) {
      if (limits_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, at, "etl: cancelled"};
      }
      const Result<std::size_t> got = input_.read_at(at, chunk);
      if (!got) {
        return got.error();
      }
      const std::span<const std::byte> window(chunk.data(), *got);
      for (std::size_t i = 0; i + kBufferHeaderBytes <= window.size() && i < kScanChunk; ++i) {
        const BufferHeader header = parse_buffer_header(window.subspan(i, kBufferHeaderBytes));
        if (header.size >= kBufferHeaderBytes && header.size <= limits_.max_buffer_bytes &&
            plausible(header)) {
          return std::optional<std::uint64_t>(at + i);
        }
      }
    }
    return std::optional<std::uint64_t>();
  }

  io::ByteSource& input_;
  const LogFileHeader& header_;
  const IndexLimits& limits_;
  BufferIndex& index_;
  capture::LossCounters& losses_;
  capture::ByteAccount& account_;
  std::uint64_t file_size_;
  std::uint64_t offset_ = 0;
  std::uint64_t previous_sequence_ = 0;
  std::uint16_t sessions_ = 0;
  IndexedBuffer last_;  // of the index: its size may change yet
};

// Numbers without a buffer, between the first and the last one of a session.
void count_missing(BufferIndex& index, capture::LossCounters& losses) {
  scratch::spill_sort(index.buffers, 0, index.count, sequence_less);
  IndexedBuffer before;
  IndexedBuffer here;
  for (std::uint64_t i = 0; i < index.count; ++i, before = here) {
    here = index.buffers.get(i);
    if (i == 0) {
      continue;
    }
    // The header buffer has number 0, and some old sessions begin above 1.
    if (before.session != here.session) {
      continue;
    }
    const std::uint64_t step = here.sequence - before.sequence;
    if (step == 0) {
      losses.add(loss::kRepeatedSequenceNumbers, LossKind::kNotice, 1, here.offset);
    } else if (step > kPlausibleGap) {
      losses.add(loss::kAbsurdSequenceNumbers, LossKind::kDamage, 1, here.offset);
    } else if (step > 1) {
      losses.add(loss::kMissingBuffers, LossKind::kDamage, step - 1, here.offset);
    }
  }
}

void count_declared(const BufferIndex& index, const LogFileHeader& header,
                    capture::LossCounters& losses) {
  const std::uint64_t found = index.count;
  const std::uint64_t declared = header.buffers_written;
  // A session that was cut off never came to write its totals: there is nothing to compare with.
  if (header.end_filetime == 0) {
    losses.add(loss::kSessionNotEnded, LossKind::kNotice, 1, 0);
  } else if (found < declared) {
    losses.add(loss::kDeclaredBuffersNotFound, LossKind::kDamage, declared - found, 0);
  } else if (found > declared) {
    losses.add(loss::kBuffersBeyondDeclared, LossKind::kNotice, found - declared, 0);
  }
}

void split_by_processor(BufferIndex& index) {
  scratch::spill_sort(index.buffers, 0, index.count,
                      [](const IndexedBuffer& a, const IndexedBuffer& b) {
                        return std::tie(a.processor, a.session, a.offset) <
                               std::tie(b.processor, b.session, b.offset);
                      });
  IndexedBuffer before;
  for (std::uint64_t i = 0; i < index.count; ++i) {
    const IndexedBuffer buffer = index.buffers.get(i);
    if (index.processors.empty() || index.processors.back().processor != buffer.processor) {
      index.processors.push_back({buffer.processor, i, i, false});
    } else if (before.session == buffer.session && before.sequence > buffer.sequence) {
      index.processors.back().disputed = true;
    }
    index.processors.back().end = i + 1;
    before = buffer;
  }
}

}  // namespace

Result<BufferIndex> index_buffers(io::ByteSource& input, const LogFileHeader& header,
                                  const IndexLimits& limits, scratch::SpillSpace& space,
                                  capture::LossCounters& losses, capture::ByteAccount& account) {
  BufferIndex index(space);
  IndexWalk walk(input, header, limits, index, losses, account);
  if (const Status done = walk.run(); !done) {
    return done.error();
  }
  count_missing(index, losses);
  count_declared(index, header, losses);
  split_by_processor(index);
  if (!space.status()) {
    return space.status().error();
  }
  return index;
}

bool sequence_less(const IndexedBuffer& a, const IndexedBuffer& b) {
  return std::tie(a.session, a.sequence, a.offset) < std::tie(b.session, b.sequence, b.offset);
}

}  // namespace stackpack::etl
