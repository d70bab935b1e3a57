#include "cli/provider_event_dump.h"

#include <bit>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/convert/provider_events.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

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
                     fmt::format("no events of '{}'{}", arguments.provider,
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
