#include "cli/value_dump.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/memory_report.h"
#include "app/analysis/value_texts.h"
#include "app/convert/provider_events.h"
#include "bytes/byte_writer.h"
#include "bytes/quoted.h"
#include "bytes/utf8.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"
#include "stackpack/sample_fields.h"

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

struct ListedField {
  std::string_view name;
  bool hexadecimal;
};

// In the order of SampleField.
constexpr std::array<ListedField, kFigureFieldCount> kListedFields = {{
    {"address", true},
    {"weight", false},
    {"instruction_latency", false},
    {"stage_latency", false},
    {"data_source", true},
    {"transaction", true},
    {"physical_address", true},
    {"data_page_size", false},
    {"code_page_size", false},
    {"cgroup", false},
}};

void append_field_line(std::string& text, const FieldRow& row,
                       const std::vector<ControlGroup>& groups) {
  text += fmt::format("{}", row.sample);
  for (std::size_t i = 0; i < kListedFields.size(); ++i) {
    if (!row.has(static_cast<SampleField>(i))) {
      text += "\t-";
    } else if (static_cast<SampleField>(i) == SampleField::kControlGroup) {
      text += '\t';
      append_escaped(text, app::control_group_of(row, groups));
    } else if (kListedFields[i].hexadecimal) {
      text += fmt::format("\t0x{:x}", row.values[i]);
    } else {
      text += fmt::format("\t{}", row.values[i]);
    }
  }
  text += '\n';
}

void append_field_object(JsonText json, const FieldRow& row,
                         const std::vector<ControlGroup>& groups) {
  json.begin_object();
  json.field("sample", row.sample);
  for (std::size_t i = 0; i < kListedFields.size(); ++i) {
    if (static_cast<SampleField>(i) == SampleField::kControlGroup) {
      continue;
    }
    if (row.has(static_cast<SampleField>(i))) {
      json.field(kListedFields[i].name, row.values[i]);
    }
  }
  if (row.has(SampleField::kDataSource)) {
    json.field("access", app::access_text(row.value(SampleField::kDataSource)));
  }
  if (const std::string group = app::control_group_of(row, groups); !group.empty()) {
    json.field("cgroup", bytes::valid_utf8(group));
  }
  json.end_object();
}

using capture::DecodedField;
using capture::PayloadValue;

class ProviderEventLister {
 public:
  ProviderEventLister(bool as_json, app::TextOutput& out) : out_(out) {
    if (as_json) {
      lines_.emplace(out.text());
    } else {
      out.text() += "#time\tpid\ttid\tevent\tfields\n";
    }
  }

  Status list(const app::ProviderEvent& event) {
    if (lines_) {
      write_json(event);
    } else {
      write_line(event);
    }
    return out_.checkpoint();
  }

  void end() {
    if (lines_) {
      lines_->end();
    }
  }

 private:
  static void write_value(JsonText& json, const PayloadValue& value) {
    switch (value.form) {
      case PayloadValue::Form::kSigned:
        json.value(static_cast<std::int64_t>(value.bits));
        break;
      case PayloadValue::Form::kReal:
        json.value(std::bit_cast<double>(value.bits));
        break;
      case PayloadValue::Form::kBool:
        json.value(value.bits != 0);
        break;
      case PayloadValue::Form::kText:
        json.value(value.text);
        break;
      default:
        json.value(value.bits);
        break;
    }
  }

  void write_json(const app::ProviderEvent& event) {
    JsonText json = lines_->element();
    json.begin_object();
    json.field("time", event.time_ns);
    for (const auto& [name, id] : {std::pair("pid", event.pid), std::pair("tid", event.tid)}) {
      if (id != kUnknownId) {
        json.field(name, id);
      }
    }
    json.field("event", event.name);
    json.key("fields");
    json.begin_object();
    for (const DecodedField& field : event.fields) {
      json.key(field.name);
      if (field.is_list) {
        json.begin_array();
      }
      for (const PayloadValue& value : field.values) {
        write_value(json, value);
      }
      if (field.is_list) {
        json.end_array();
      } else if (field.values.empty()) {
        json.value(nullptr);
      }
    }
    json.end_object();
    json.end_object();
  }

  static void append_value(std::string& text, const PayloadValue& value) {
    if (value.form == PayloadValue::Form::kText) {
      append_escaped(text, value.text);
    } else {
      app::append_payload_value(text, value);
    }
  }

  void write_line(const app::ProviderEvent& event) {
    const auto id_text = [](std::uint32_t id) {
      return id == kUnknownId ? std::string("-") : std::to_string(id);
    };
    std::string& text = out_.text();
    text += fmt::format("{}\t{}\t{}\t", event.time_ns, id_text(event.pid), id_text(event.tid));
    append_escaped(text, event.name);
    for (const DecodedField& field : event.fields) {
      text += '\t';
      append_escaped(text, field.name);
      text += field.is_list ? "=[" : "=";
      for (std::size_t i = 0; i < field.values.size(); ++i) {
        text += i == 0 ? "" : ", ";
        append_value(text, field.values[i]);
      }
      text += field.is_list ? "]" : "";
    }
    text += '\n';
  }

  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
};

void explain_counts(const DumpArguments& arguments, const app::ProviderEventCounts& counts,
                    const Messages& messages) {
  constexpr std::size_t kMostNames = 12;
  if (counts.events == 0) {
    std::string names;
    for (std::size_t i = 0; i < counts.providers.size(); ++i) {
      if (i == kMostNames) {
        names += ", ...";
        break;
      }
      names += (names.empty() ? "" : ", ") + counts.providers[i];
    }
    messages.warning(arguments.file,
                     fmt::format("no events of {}{}", bytes::quoted(arguments.provider),
                                 names.empty() ? "" : "; there are events of " + names));
  }
  if (counts.undescribed != 0) {
    messages.note(arguments.file,
                  fmt::format("{} of {} events are shown as bytes: the capture does not describe "
                              "their fields",
                              grouped(counts.undescribed), grouped(counts.events)));
  }
  if (counts.misfits != 0) {
    messages.warning(arguments.file,
                     fmt::format("{} of {} events are not as the capture describes them",
                                 grouped(counts.misfits), grouped(counts.events)));
  }
}

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

Status dump_labels(const Reader& reader, bool as_json, app::TextOutput& out) {
  std::optional<JsonLines> lines;
  if (as_json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#set\tkey\tvalue\n";
  }
  std::uint64_t number = 0;
  Status printed;
  const auto list = [&](const Label& label) {
    if (lines) {
      JsonText json = lines->element();
      json.begin_object();
      json.field("set", number);
      json.field("key", bytes::valid_utf8(label.key));
      json.field("value", app::label_value(label));
      json.end_object();
      return;
    }
    out.text() += fmt::format("{}\t", number);
    append_escaped(out.text(), label.key);
    out.text() += '\t';
    append_escaped(out.text(), app::label_value(label));
    out.text() += '\n';
  };
  const Status read = reader.label_sets([&](std::span<const LabelSet> sets) {
    for (const LabelSet& set : sets) {
      std::for_each(set.begin(), set.end(), list);
      ++number;
      if (printed = out.checkpoint(); !printed) {
        return false;
      }
    }
    return true;
  });
  if (lines && printed && read) {
    lines->end();
  }
  return printed ? read : printed;
}

Status dump_sample_fields(const Reader& reader, bool as_json, app::TextOutput& out) {
  const Result<std::vector<ControlGroup>> groups = reader.control_groups();
  if (!groups) {
    return groups.error();
  }
  std::optional<JsonLines> lines;
  if (as_json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#sample";
    for (const ListedField& field : kListedFields) {
      out.text() += '\t';
      out.text() += field.name;
    }
    out.text() += '\n';
  }
  Status printed;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      if (!row.has_figures()) {
        continue;
      }
      if (lines) {
        append_field_object(lines->element(), row, *groups);
      } else {
        append_field_line(out.text(), row, *groups);
      }
      if (printed = out.checkpoint(); !printed) {
        return false;
      }
    }
    return true;
  });
  if (!read || !printed) {
    return read ? printed : read;
  }
  if (lines) {
    lines->end();
  }
  return {};
}

Status dump_provider_events(const DumpArguments& arguments, const Messages& messages,
                            app::TextOutput& out) {
  ProviderEventLister lister(arguments.json, out);
  Result<app::ProviderEvents> events = app::ProviderEvents::open(arguments.file, {});
  if (!events) {
    return events.error();
  }
  const auto counts =
      events->visit(arguments.provider, {},
                    [&lister](const app::ProviderEvent& event) { return lister.list(event); });
  if (!counts) {
    return counts.error();
  }
  lister.end();
  explain_counts(arguments, *counts, messages);
  return {};
}

}  // namespace stackpack::cli
