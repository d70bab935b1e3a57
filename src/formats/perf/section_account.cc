#include "formats/perf/section_account.h"

#include <algorithm>

#include "formats/perf/perf_losses.h"

namespace stackpack::perf {

namespace {

std::uint64_t end_of(const FileSection& section) {
  std::uint64_t end = 0;
  return bytes::checked_add(section.offset, section.size, end) ? end : ~std::uint64_t{0};
}

}  // namespace

std::uint64_t SectionAccount::finish(std::uint64_t file_bytes, const FileSection& data,
                                     capture::ByteAccount& account) {
  std::stable_sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.section.offset < b.section.offset;
  });
  std::uint64_t unreferenced = 0;  // behind the last section, as far as it is known
  // One pass over the bytes before the data, one over those behind it.
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
      account.padding += begin - at;
      if (range.skipped) {
        account.skipped.add(*range.skipped, stop - begin);
      } else {
        account.parsed += stop - begin;
      }
      at = stop;
    }
    // What lies before the data is a gap in any case.
    (side.offset == 0 && data.size != 0 ? account.padding : unreferenced) += end - at;
  }
  account.skipped.add(skip::kUnreferenced, unreferenced);
  return unreferenced;
}

}  // namespace stackpack::perf
