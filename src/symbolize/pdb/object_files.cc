#include "symbolize/pdb/object_files.h"

#include <algorithm>
#include <span>

namespace stackpack::symbolize {

Result<bool> ObjectFiles::read(std::uint32_t module) {
  const PdbModule& row = tables_.modules[module];
  if (row.stream == kNoPdbStream || row.symbol_bytes < kSymbolsBegin) {
    return false;
  }
  const std::uint64_t size = std::uint64_t{row.symbol_bytes} +
                             (with_lines_ ? std::uint64_t{row.old_line_bytes} + row.line_bytes : 0);
  const Status read = file_.read(row.stream, 0, size, bytes_);
  if (!read && read.error().code == ErrorCode::kTruncated) {
    damaged_[module] = true;
    return false;
  }
  if (!read) {
    return read.error();
  }
  return true;
}

bytes::ByteCursor ObjectFiles::symbols(std::uint32_t module) const {
  const PdbModule& row = tables_.modules[module];
  return {std::span(bytes_).first(row.symbol_bytes), file_.file_offset(row.stream, 0)};
}

bytes::ByteCursor ObjectFiles::lines(std::uint32_t module) const {
  const PdbModule& row = tables_.modules[module];
  const std::size_t begin = std::size_t{row.symbol_bytes} + row.old_line_bytes;
  return {std::span(bytes_).subspan(begin, row.line_bytes), file_.file_offset(row.stream, begin)};
}

std::uint64_t ObjectFiles::damaged() const {
  return static_cast<std::uint64_t>(std::count(damaged_.begin(), damaged_.end(), true));
}

}  // namespace stackpack::symbolize
