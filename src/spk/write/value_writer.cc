#include "spk/write/value_writer.h"

#include "spk/format/layout.h"
#include "spk/format/value_codec.h"

namespace stackpack::spk {

Status ValueWriter::add(const EventValue& row) {
  if (count_ == 0) {
    out_.begin_section(SectionKind::kEventValues);
  }
  ++count_;
  rows_.push_back(row);
  return rows_.size() < kValuesPerBlock ? Status{} : flush();
}

Status ValueWriter::flush() {
  content_.clear();
  encode_values(rows_, kinds_, content_);
  rows_.clear();
  const Result<BlockRecord> added = out_.add_block(content_);
  return added ? Status{} : Status{added.error()};
}

Status write_value_texts(std::span<const std::string> texts, SectionWriter& out) {
  BlockContent content;
  out.begin_section(SectionKind::kValueTexts);
  for (std::size_t begin = 0; begin < texts.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    while (end < texts.size() && end - begin < kRowsPerTableBlock && bytes < kTableTextTarget) {
      bytes += texts[end++].size();
    }
    content.clear();
    encode_value_texts(texts.subspan(begin, end - begin), content);
    if (const Result<BlockRecord> added = out.add_block(content); !added) {
      return added.error();
    }
    begin = end;
  }
  out.end_section(texts.size());
  return {};
}

Status ValueWriter::end(std::span<const std::string> texts) {
  if (count_ == 0) {
    return {};
  }
  if (!rows_.empty()) {
    if (const Status flushed = flush(); !flushed) {
      return flushed;
    }
  }
  out_.end_section(count_);
  out_.begin_section(SectionKind::kValueKinds);
  content_.clear();
  encode_value_kinds(kinds_, content_);
  if (const Result<BlockRecord> added = out_.add_block(content_); !added) {
    return added.error();
  }
  out_.end_section(kinds_.size());
  return write_value_texts(texts, out_);
}

}  // namespace stackpack::spk
