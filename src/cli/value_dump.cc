#include "cli/value_dump.h"

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/value_texts.h"
#include "bytes/byte_writer.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

class ValueLister {
 public:
  ValueLister(std::vector<ValueSchema> kinds, std::vector<std::string> texts, bool as_json,
              app::TextOutput& out)
      : kinds_(std::move(kinds)), texts_(std::move(texts)), out_(out) {
    if (as_json) {
      lines_.emplace(out.text());
    } else {
      out.text() += "#time\tpid\ttid\tstack\tkind\tfields\n";
    }
  }

  Status list(const EventValue& row) {
    if (lines_) {
      write_json(row);
    } else {
      write_line(row);
    }
    return out_.checkpoint();
  }

  void end() {
    if (lines_) {
      lines_->end();
    }
  }

 private:
  void write_json(const EventValue& row) {
    const ValueSchema& kind = kinds_[row.kind];
    JsonText json = lines_->element();
    json.begin_object();
    json.field("time", row.time_ns);
    for (const auto& [name, id] :
         {std::pair("pid", row.pid), std::pair("tid", row.tid), std::pair("stack", row.stack)}) {
      if (id != kUnknownId) {
        json.field(name, id);
      }
    }
    json.field("kind", kind.name);
    for (std::size_t i = 0; i < kind.fields.size(); ++i) {
      const std::uint64_t value = row.values[i];
      json.key(kind.fields[i].name);
      if (kind.fields[i].type == ValueType::kText) {
        json.value(texts_[static_cast<std::size_t>(value)]);
      } else if (value == kNoValue) {
        json.value(nullptr);
      } else if (kind.fields[i].type == ValueType::kReal) {
        json.value(std::bit_cast<double>(value));
      } else if (kind.fields[i].type == ValueType::kSigned) {
        json.value(bytes::zigzag_decode(value));
      } else {
        json.value(value);
      }
    }
    json.end_object();
  }

  void write_line(const EventValue& row) {
    const auto id_text = [](std::uint32_t id) {
      return id == kUnknownId ? std::string("-") : std::to_string(id);
    };
    std::string& text = out_.text();
    text += fmt::format("{}\t{}\t{}\t{}\t", row.time_ns, id_text(row.pid), id_text(row.tid),
                        id_text(row.stack));
    const ValueSchema& kind = kinds_[row.kind];
    append_escaped(text, kind.name);
    for (std::size_t i = 0; i < kind.fields.size(); ++i) {
      text += '\t';
      append_escaped(text, kind.fields[i].name);
      text += '=';
      append_value(text, kind.fields[i].type, row.values[i]);
    }
    text += '\n';
  }

  void append_value(std::string& text, ValueType type, std::uint64_t value) const {
    if (type == ValueType::kText) {
      const std::string& words = texts_[static_cast<std::size_t>(value)];
      append_escaped(text, words.empty() ? "-" : words);
    } else {
      text += app::value_text(type, value);
    }
  }

  std::vector<ValueSchema> kinds_;
  std::vector<std::string> texts_;
  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
};

}  // namespace

Status dump_event_values(const Reader& reader, const ListedValues& which, bool as_json,
                         app::TextOutput& out) {
  Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  Result<std::vector<std::string>> texts = reader.event_value_texts();
  if (!kinds || !texts) {
    return kinds ? texts.error() : kinds.error();
  }
  const std::vector<bool> listed = app::listed_kinds(*kinds, which.kinds, which.own);
  ValueLister lister(std::move(*kinds), std::move(*texts), as_json, out);
  Status status;
  const Status read = reader.event_values([&](std::span<const EventValue> rows) {
    for (std::size_t i = 0; i < rows.size() && status; ++i) {
      status = listed[rows[i].kind] ? lister.list(rows[i]) : Status();
    }
    return static_cast<bool>(status);
  });
  lister.end();
  return read ? status : read;
}

}  // namespace stackpack::cli
