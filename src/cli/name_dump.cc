#include "cli/name_dump.h"

#include <optional>
#include <string>

#include "app/analysis/named_frames.h"
#include "app/listing/function_ids.h"
#include "cli/frame_text.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"
#include "stackpack/names.h"

namespace stackpack::cli {

namespace {

std::string_view source_of(const app::NamedFrame& named) {
  return named.location.function == nullptr ? "" : source_name(named.location.function->source);
}

void append_field(std::string& text, std::string_view value) {
  text += '\t';
  append_escaped(text, value.empty() ? std::string_view("-") : value);
}

void append_line(std::string& text, const app::NamedFrame& named) {
  text += named.pid == kUnknownId ? "-" : std::to_string(named.pid);
  text += '\t';
  append_hex(text, named.frame.address);
  const CodeLocation& location = named.location;
  append_field(text, location.module == nullptr ? std::string_view() : location.module->path);
  text += '\t';
  if (location.module == nullptr) {
    text += '-';
  } else {
    append_hex(text, location.offset);
  }
  append_field(text, location.name);
  append_field(text, source_of(named));
  append_field(text, location.file);
  append_field(text, location.line == 0 ? "" : std::to_string(location.line));
  text += '\n';
}

void write_object(JsonText json, const app::NamedFrame& named) {
  json.begin_object();
  if (named.pid != kUnknownId) {
    json.field("pid", named.pid);
  }
  std::string address;
  append_frame(address, named.frame);
  json.field("address", address);
  const CodeLocation& location = named.location;
  if (location.module != nullptr) {
    json.field("module", location.module->path);
    json.field("offset", location.offset);
  }
  json.field("function", location.name);
  json.field("function_id", app::function_id(location));
  if (location.linkage != location.name) {
    json.field("linkage", location.linkage);
  }
  json.field("source", source_of(named));
  if (!location.file.empty()) {
    json.field("file", location.file);
    json.field("line", location.line);
  }
  json.end_object();
}

}  // namespace

Status dump_names(const Reader& reader, bool as_json, app::TextOutput& out) {
  std::optional<JsonLines> lines;
  if (as_json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#pid\taddress\tmodule\toffset\tfunction\tsource\tfile\tline\n";
  }
  const Status status = app::visit_named_frames(reader, [&](const app::NamedFrame& named) {
    if (lines) {
      write_object(lines->element(), named);
    } else {
      append_line(out.text(), named);
    }
    return out.checkpoint();
  });
  if (lines) {
    lines->end();
  }
  return status;
}

}  // namespace stackpack::cli
