#include "formats/perf/section_account.h"

#include <algorithm>
#include <array>
#include <span>

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

Result<std::uint64_t> SectionAccount::finish(io::ByteSource& file, std::uint64_t file_bytes,
                                             const FileSection& data,
                                             capture::ByteAccount& account) {
  std::stable_sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.section.offset < b.section.offset;
  });
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
  std::uint64_t unreferenced = 0;
  for (const FileSection& gap : gaps) {
    const Result<bool> blank = is_blank(file, gap);
    if (!blank) {
      return blank.error();
    }
    (*blank ? account.padding : unreferenced) += gap.size;
  }
  account.skipped.add(skip::kUnreferenced, unreferenced);
  return unreferenced;
}

}  // namespace stackpack::perf
