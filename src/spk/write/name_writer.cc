#include "spk/write/name_writer.h"

#include <algorithm>
#include <span>

#include "bytes/hash.h"
#include "spk/format/layout.h"
#include "spk/format/name_codec.h"

namespace stackpack::spk {

namespace {

constexpr std::size_t kRecentTextBytes = std::size_t{1} << 18;

Error names_out_of_order() {
  return {ErrorCode::kUsage, kNoOffset, "spk: names are not in order"};
}

Error beyond_last_address() {
  return {ErrorCode::kLimit, kNoOffset, "spk: a function ends beyond the last address"};
}

}  // namespace

NameWriter::NameWriter(SectionWriter& out, const std::string& scratch_directory,
                       std::uint64_t memory_bytes)
    : out_(out),
      space_(scratch_directory, memory_bytes),
      known_(space_),
      places_(space_),
      log_(scratch_directory, kRecentTextBytes) {}

std::uint32_t NameWriter::number_of(std::string_view text) {
  text = text.substr(0, kMaxNameBytes);
  if (text.empty() || !status_) {
    return kNoText;
  }
  KnownText like{bytes::xxh3_64(std::as_bytes(std::span(text))), 0, 0};
  for (KnownText known = known_.find(like); known.used(); known = known_.find(like)) {
    if (known.bytes == text.size()) {
      scratch_.resize(text.size());
      const TextPlace place = places_.get(known.number - 1);
      if (const Status read = log_.read(place.offset, scratch_); !read) {
        status_ = read;
        return kNoText;
      }
      if (scratch_ == text) {
        return known.number - 1;
      }
    }
    ++like.key;
  }
  if (texts_ == kNoText - 1) {
    status_ = Error{ErrorCode::kLimit, kNoOffset, "spk: too many names"};
    return kNoText;
  }
  like.number = texts_ + 1;
  like.bytes = static_cast<std::uint32_t>(text.size());
  known_.put(like);
  places_.set(texts_, {log_.add({text}), text.size()});
  return texts_++;
}

Status NameWriter::enter(Stage stage) {
  if (stage_ == stage) {
    return status_;
  }
  if (stage < stage_) {
    return names_out_of_order();
  }
  if (const Status flushed = flush(); !flushed) {
    return flushed;
  }
  switch (stage_) {
    case Stage::kFunctions:
      out_.end_section(functions_);
      break;
    case Stage::kInlined:
      out_.end_section(inlined_);
      break;
    case Stage::kLines:
      out_.end_section(lines_);
      break;
    case Stage::kNone:
    case Stage::kDone:
      break;
  }
  stage_ = stage;
  if (stage != Stage::kDone) {
    out_.begin_section(stage == Stage::kFunctions ? SectionKind::kFunctions
                       : stage == Stage::kInlined ? SectionKind::kInlinedCalls
                                                  : SectionKind::kLines);
  }
  return status_;
}

// Writes the rows that are collected.
Status NameWriter::flush() {
  content_.clear();
  if (!function_rows_.empty()) {
    encode_names(function_rows_, encoded_, content_);
  } else if (!inlined_rows_.empty()) {
    encode_names(inlined_rows_, inlined_ - inlined_rows_.size(), encoded_, content_);
  } else if (!line_rows_.empty()) {
    encode_names(line_rows_, encoded_, content_);
  } else {
    return status_;
  }
  function_rows_.clear();
  inlined_rows_.clear();
  line_rows_.clear();
  const Result<BlockRecord> record = out_.add_block(content_);
  return record ? status_ : Status{record.error()};
}

Status NameWriter::add(Function row, const NameTexts& texts) {
  if (const Status entered = enter(Stage::kFunctions); !entered) {
    return entered;
  }
  if (!is_addressable(row)) {
    return beyond_last_address();
  }
  if (functions_++ != 0 && !in_order(last_function_, row)) {
    return names_out_of_order();
  }
  row.name = number_of(texts.name);
  row.linkage = number_of(texts.linkage);
  row.file = number_of(texts.file);
  last_function_ = row;
  function_rows_.push_back(row);
  return function_rows_.size() == kNamesPerBlock ? flush() : status_;
}

Status NameWriter::add(InlinedCall row, const NameTexts& texts) {
  if (const Status entered = enter(Stage::kInlined); !entered) {
    return entered;
  }
  if (row.parent != kNoInline && row.parent >= inlined_) {
    return names_out_of_order();
  }
  ++inlined_;
  inline_bounds_.add_call(row.parent);
  row.name = number_of(texts.name);
  row.linkage = number_of(texts.linkage);
  row.call_file = number_of(texts.file);
  inlined_rows_.push_back(row);
  return inlined_rows_.size() == kNamesPerBlock ? flush() : status_;
}

Status NameWriter::add(CodeLine row, const NameTexts& texts) {
  if (const Status entered = enter(Stage::kLines); !entered) {
    return entered;
  }
  if (!is_addressable(row)) {
    return beyond_last_address();
  }
  if ((lines_++ != 0 && !in_order(last_line_, row)) ||
      (row.inlined != kNoInline && row.inlined >= inlined_)) {
    return names_out_of_order();
  }
  inline_bounds_.add_line(row.inlined);
  row.file = number_of(texts.file);
  if (row.born_ns != kUnknownTime) {
    births_.resize(static_cast<std::size_t>(lines_) - 1, kUnknownTime);
    births_.push_back(row.born_ns);
  }
  last_line_ = row;
  line_rows_.push_back(row);
  return line_rows_.size() == kNamesPerBlock ? flush() : status_;
}

Status NameWriter::write_texts() {
  if (texts_ == 0) {
    return {};
  }
  out_.begin_section(SectionKind::kTexts);
  std::vector<std::string> rows;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < texts_; ++i) {
    const TextPlace place = places_.get(i);
    rows.emplace_back(static_cast<std::size_t>(place.bytes), '\0');
    if (const Status read = log_.read(place.offset, rows.back()); !read) {
      return read;
    }
    bytes += rows.back().size();
    if (rows.size() == kRowsPerTableBlock || bytes >= kTableTextTarget || i + 1 == texts_) {
      content_.clear();
      encode_texts(rows, content_);
      if (const Result<BlockRecord> record = out_.add_block(content_); !record) {
        return record.error();
      }
      rows.clear();
      bytes = 0;
    }
  }
  out_.end_section(texts_);
  return space_.status();
}

Status NameWriter::write_births() {
  if (births_.empty()) {
    return {};
  }
  births_.resize(static_cast<std::size_t>(lines_), kUnknownTime);
  out_.begin_section(SectionKind::kLineBirths);
  for (std::size_t done = 0; done < births_.size();) {
    const auto rows = std::span<const std::uint64_t>(births_).subspan(done);
    const auto block = rows.first(std::min<std::size_t>(rows.size(), kNamesPerBlock));
    content_.clear();
    encode_births(block, content_);
    if (const Result<BlockRecord> record = out_.add_block(content_); !record) {
      return record.error();
    }
    done += block.size();
  }
  out_.end_section(births_.size());
  return {};
}

Status NameWriter::end() {
  if (const Status entered = enter(Stage::kDone); !entered) {
    return entered;
  }
  if (!space_.status()) {
    return space_.status();
  }
  if (!inline_bounds_.kept()) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: too many calls inlined at lines"};
  }
  const Status written = write_texts();
  return written ? write_births() : written;
}

}  // namespace stackpack::spk
