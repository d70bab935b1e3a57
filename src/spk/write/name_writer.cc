#include "spk/write/name_writer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "bytes/hash.h"
#include "spk/format/layout.h"
#include "spk/format/name_codec.h"

namespace stackpack::spk {

namespace {

constexpr std::size_t kRecentTextBytes = std::size_t{1} << 18;

Error names_out_of_order() {
  return {ErrorCode::kUsage, kNoOffset, "spk: names are not in order"};
}

Status check_range(const CodeRange& range, std::uint64_t modules) {
  if (!has_module(range, modules)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: a function of a module that is not there"};
  }
  if (!is_owned(range)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: a function of an owner that has none"};
  }
  return is_addressable(range) ? Status{}
                               : Status{Error{ErrorCode::kLimit, kNoOffset,
                                              "spk: a function ends beyond the last address"}};
}

}  // namespace

NameWriter::NameWriter(SectionWriter& out, const std::string& scratch_directory,
                       std::uint64_t memory_bytes)
    : out_(out),
      modules_(out.items(SectionKind::kModules)),
      space_(scratch_directory, memory_bytes),
      known_(space_),
      places_(space_),
      log_(scratch_directory, kRecentTextBytes) {}

std::uint32_t NameWriter::number_of(std::string_view text, bool add) {
  cut_texts_ += text.size() > kMaxNameBytes ? 1U : 0U;
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
  if (!add) {
    return kNoText;
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
    case Stage::kAliases:
    case Stage::kDone:
      break;
  }
  stage_ = stage;
  if (stage < Stage::kAliases) {
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
  if (const Status range = check_range(row, modules_); !range) {
    return range;
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
  if (const Status range = check_range(row, modules_); !range) {
    return range;
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

Status NameWriter::add_alias(std::string_view name, std::string_view alias) {
  if (const Status entered = enter(Stage::kAliases); !entered) {
    return entered;
  }
  const std::uint32_t number = number_of(name, false);
  alias = alias.substr(0, kMaxNameBytes);
  if (number != kNoText && !alias.empty() && alias != name) {
    aliases_.emplace_back(number, alias);
  }
  return status_;
}

template <typename TextOf>
Status NameWriter::write_text_section(SectionKind kind, std::size_t count, TextOf text_of) {
  if (count == 0) {
    return {};
  }
  out_.begin_section(kind);
  std::vector<std::string> rows;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Result<std::string> text = text_of(i);
    if (!text) {
      return text.error();
    }
    bytes += text->size();
    rows.push_back(std::move(*text));
    if (rows.size() == kRowsPerTableBlock || bytes >= kTableTextTarget || i + 1 == count) {
      content_.clear();
      encode_texts(rows, content_);
      if (const Result<BlockRecord> record = out_.add_block(content_); !record) {
        return record.error();
      }
      rows.clear();
      bytes = 0;
    }
  }
  out_.end_section(count);
  return space_.status();
}

Status NameWriter::write_texts() {
  return write_text_section(
      SectionKind::kTexts, texts_, [this](std::size_t i) -> Result<std::string> {
        const TextPlace place = places_.get(static_cast<std::uint32_t>(i));
        std::string text(static_cast<std::size_t>(place.bytes), '\0');
        const Status read = log_.read(place.offset, text);
        return read ? Result<std::string>(std::move(text)) : Result<std::string>(read.error());
      });
}

// A section of rows that are all here; none without rows.
template <typename Row, typename Encode>
Status NameWriter::write_blocks(SectionKind kind, std::span<const Row> rows, Encode encode) {
  if (rows.empty()) {
    return {};
  }
  out_.begin_section(kind);
  for (std::size_t done = 0; done < rows.size();) {
    const auto block =
        rows.subspan(done, std::min<std::size_t>(rows.size() - done, kNamesPerBlock));
    content_.clear();
    encode(block, content_);
    if (const Result<BlockRecord> record = out_.add_block(content_); !record) {
      return record.error();
    }
    done += block.size();
  }
  out_.end_section(rows.size());
  return {};
}

Status NameWriter::write_births() {
  if (births_.empty()) {
    return {};
  }
  births_.resize(static_cast<std::size_t>(lines_), kUnknownTime);
  return write_blocks<std::uint64_t>(SectionKind::kLineBirths, births_, encode_births);
}

Status NameWriter::write_aliases() {
  std::sort(aliases_.begin(), aliases_.end());
  aliases_.erase(std::unique(aliases_.begin(), aliases_.end()), aliases_.end());
  std::vector<std::uint32_t> names;
  names.reserve(aliases_.size());
  for (const auto& [name, alias] : aliases_) {
    names.push_back(name);
  }
  const Status written =
      write_blocks<std::uint32_t>(SectionKind::kFunctionAliases, names, encode_alias_names);
  return written ? write_text_section(
                       SectionKind::kAliasTexts, aliases_.size(),
                       [this](std::size_t i) { return Result<std::string>(aliases_[i].second); })
                 : written;
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
  for (const auto write :
       {&NameWriter::write_texts, &NameWriter::write_births, &NameWriter::write_aliases}) {
    if (const Status written = (this->*write)(); !written) {
      return written;
    }
  }
  return {};
}

}  // namespace stackpack::spk
