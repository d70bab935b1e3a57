// Layout: Microsoft's cvinfo.h (CV_DebugSLinesHeader_t and others).
#include "symbolize/pdb/module_lines.h"

#include <algorithm>

#include "core/sort_rows.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kLines = 0xF2;
constexpr std::uint32_t kFileChecksums = 0xF4;
constexpr std::uint32_t kInlineeLines = 0xF6;
constexpr std::uint16_t kLinesHaveColumns = 1;
constexpr std::uint32_t kInlineesHaveMoreFiles = 1;
constexpr std::uint32_t kLineMask = 0xFF'FFFF;
// Lines of code that a debugger is to pass by.
constexpr std::uint32_t kNeverStepInto = 0xFE'EFEE;
constexpr std::uint32_t kAlwaysStepInto = 0xF0'0F00;

}  // namespace

ModuleLines::ModuleLines(bytes::ByteCursor line_bytes)
    : line_bytes_(line_bytes), files_({}, line_bytes.offset()) {
  while (line_bytes.remaining() >= 8) {
    const auto kind = line_bytes.read<std::uint32_t>();
    const auto size = line_bytes.read<std::uint32_t>();
    const std::size_t position = line_bytes.position();
    bytes::ByteCursor part = line_bytes.sub(size);
    if (!part.ok()) {
      damaged_ = true;
      break;
    }
    if (kind == kLines) {
      read_block_header(part, position);
    } else if (kind == kFileChecksums) {
      files_ = part;
    } else if (kind == kInlineeLines) {
      read_inlinees(part);
    }
    line_bytes.skip(std::min<std::size_t>(line_bytes.remaining(), (4 - size % 4) % 4));
  }
  core::sort_rows(inlinees_,
                  [](const InlineeLine& a, const InlineeLine& b) { return a.inlinee < b.inlinee; });
}

void ModuleLines::read_block_header(bytes::ByteCursor in, std::size_t position) {
  LineBlock block;
  block.offset = in.read<std::uint32_t>();
  block.section = in.read<std::uint16_t>();
  block.columns = (in.read<std::uint16_t>() & kLinesHaveColumns) != 0;
  block.size = in.read<std::uint32_t>();
  if (!in.ok()) {
    damaged_ = true;
    return;
  }
  block.position = position + in.position();
  block.bytes = in.remaining();
  blocks_.push_back(block);
}

void ModuleLines::read_inlinees(bytes::ByteCursor in) {
  const bool more_files = in.read<std::uint32_t>() == kInlineesHaveMoreFiles;
  while (in.remaining() >= 12) {
    InlineeLine inlinee;
    inlinee.inlinee = in.read<std::uint32_t>();
    inlinee.file = in.read<std::uint32_t>();
    inlinee.line = in.read<std::uint32_t>();
    if (more_files) {
      in.skip(std::uint64_t{in.read<std::uint32_t>()} * 4);
    }
    if (!in.ok()) {
      damaged_ = true;
      return;
    }
    inlinees_.push_back(inlinee);
  }
}

bool ModuleLines::read_entries(const LineBlock& block, std::vector<LineEntry>& entries) const {
  entries.clear();
  bytes::ByteCursor in = line_bytes_;
  in.seek(block.position);
  bytes::ByteCursor files = in.sub(block.bytes);
  while (files.remaining() >= 12) {
    const auto file = files.read<std::uint32_t>();
    const auto count = files.read<std::uint32_t>();
    const auto size = files.read<std::uint32_t>();
    const std::uint64_t entry_size = block.columns ? 12 : 8;
    if (size < 12 || count > (size - 12) / entry_size) {
      return false;
    }
    bytes::ByteCursor lines = files.sub(size - 12);
    if (!lines.ok()) {
      return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      LineEntry entry;
      entry.offset = lines.read<std::uint32_t>();
      entry.file = file;
      entry.line = lines.read<std::uint32_t>() & kLineMask;
      if (entry.line == kNeverStepInto || entry.line == kAlwaysStepInto) {
        entry.line = 0;
      }
      entries.push_back(entry);
    }
  }
  core::sort_rows(entries,
                  [](const LineEntry& a, const LineEntry& b) { return a.offset < b.offset; });
  return true;
}

std::optional<std::uint32_t> ModuleLines::name_offset(std::uint32_t file) const {
  bytes::ByteCursor in = files_;
  in.seek(file);
  const auto offset = in.read<std::uint32_t>();
  return in.ok() ? std::optional(offset) : std::nullopt;
}

const InlineeLine* ModuleLines::inlinee(std::uint32_t id) const {
  const auto found = std::lower_bound(
      inlinees_.begin(), inlinees_.end(), id,
      [](const InlineeLine& row, std::uint32_t wanted) { return row.inlinee < wanted; });
  return found != inlinees_.end() && found->inlinee == id ? &*found : nullptr;
}

}  // namespace stackpack::symbolize
