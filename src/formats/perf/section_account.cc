#include "formats/perf/section_account.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/sort_rows.h"
#include "formats/perf/perf_losses.h"

namespace stackpack::perf {

namespace {

std::uint64_t end_of(const FileSection& section) {
  std::uint64_t end = 0;
  return bytes::checked_add(section.offset, section.size, end) ? end : ~std::uint64_t{0};
}

// Whether there are nothing but zeros in a part of the file.
Result<bool> is_blank(io::ByteSource& file, FileSection part) {
  std::array<std::byte, 4096> chunk{};
  while (part.size != 0) {
    const std::span<std::byte> bytes = std::span(chunk).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(part.size, chunk.size())));
    const Status read =
        io::read_exactly_at(file, part.offset, bytes, "perf: unused bytes: the file ends inside");
    if (!read) {
      return read.error();
    }
    if (std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; })) {
      return false;
    }
    part.offset += bytes.size();
    part.size -= bytes.size();
  }
  return true;
}

}  // namespace

// The gaps between the ranges outside of `data`, whose bytes go into the account.
std::vector<FileSection> SectionAccount::gaps_around(const FileSection& data,
                                                     std::uint64_t file_bytes,
                                                     capture::ByteAccount& account) {
  core::sort_rows(
      ranges_, [](const Range& a, const Range& b) { return a.section.offset < b.section.offset; });
  std::vector<FileSection> gaps;
  // One pass over the bytes before the data, one over those after it.
  const FileSection outside[] = {{0, data.offset},
                                 {data.offset + data.size, file_bytes - data.offset - data.size}};
  for (const FileSection& side : outside) {
    std::uint64_t at = side.offset;
    const std::uint64_t end = side.offset + side.size;
    for (const Range& range : ranges_) {
      const std::uint64_t begin = std::max(range.section.offset, at);
      const std::uint64_t stop = std::min(end_of(range.section), end);
      if (begin >= stop) {
        continue;
      }
      gaps.push_back({at, begin - at});
      if (range.skipped) {
        account.skipped.add(*range.skipped, stop - begin);
      } else {
        account.parsed += stop - begin;
      }
      at = stop;
    }
    gaps.push_back({at, end - at});
  }
  return gaps;
}

// Whether a gap holds nothing. The first unused row of the feature table, {offset, size}, may still
// have the place where its section would have begun.
Result<bool> SectionAccount::is_padding(io::ByteSource& file, std::uint64_t file_bytes,
                                        FileSection gap) const {
  constexpr std::uint64_t kRowBytes = 16;
  constexpr std::uint64_t kOffsetBytes = 8;
  if (table_end_ != 0 && gap.offset == table_end_ && gap.size != 0 && gap.size % kRowBytes == 0) {
    std::array<std::byte, kOffsetBytes> offset{};
    const Status read =
        io::read_exactly_at(file, gap.offset, offset, "perf: feature table: the file ends inside");
    if (!read) {
      return read.error();
    }
    if (bytes::ByteCursor(offset, gap.offset, order_).read<std::uint64_t>() <= file_bytes) {
      gap.offset += kOffsetBytes;
      gap.size -= kOffsetBytes;
    }
  }
  return is_blank(file, gap);
}

Result<SectionAccount::Unnamed> SectionAccount::finish(io::ByteSource& file,
                                                       std::uint64_t file_bytes,
                                                       const FileSection& data, bool sound,
                                                       capture::ByteAccount& account) {
  Unnamed unnamed;
  const std::vector<FileSection> gaps = gaps_around(data, file_bytes, account);
  for (const FileSection& gap : gaps) {
    const Result<bool> padding = is_padding(file, file_bytes, gap);
    if (!padding) {
      return padding.error();
    }
    if (*padding) {
      account.padding += gap.size;
    } else if (sound && &gap == &gaps.back() && table_end_ != 0 && gap.offset > table_end_) {
      unnamed.trailing = gap.size;
      unnamed.trailing_at = gap.offset;
    } else {
      unnamed.between += gap.size;
    }
  }
  account.skipped.add(skip::kUnreferenced, unnamed.between);
  account.skipped.add(skip::kTrailingBytes, unnamed.trailing);
  return unnamed;
}

}  // namespace stackpack::perf
