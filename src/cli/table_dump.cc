#include "cli/table_dump.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/placed_callstacks.h"
#include "app/listing/function_titles.h"
#include "app/listing/listed_texts.h"
#include "app/listing/thread_names.h"
#include "cli/frame_text.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"
#include "stackpack/names.h"
#include "stackpack/sources.h"

namespace stackpack::cli {

namespace {

// One row of a table, field by field: to a line of text or to a JSON object. A value that was not
// recorded is '-' in text and absent in JSON.
class RowWriter {
 public:
  RowWriter(app::TextOutput& out, std::string_view text_header, bool as_json) : out_(out) {
    if (as_json) {
      lines_.emplace(out.text());
    } else {
      out.text() += text_header;
      out.text() += '\n';
    }
  }

  Status row(const std::function<void()>& fields) {
    first_ = true;
    if (lines_) {
      JsonText json = lines_->element();
      json_ = &json;
      json.begin_object();
      fields();
      json.end_object();
      json_ = nullptr;
    } else {
      fields();
      out_.text() += '\n';
    }
    return out_.checkpoint();
  }

  void end() {
    if (lines_) {
      lines_->end();
    }
  }

  void text(std::string_view name, std::string_view value) {
    if (json_ != nullptr) {
      json_->field(name, value);
    } else {
      append_escaped(cell(), value.empty() ? std::string_view("-") : value);
    }
  }
  void number(std::string_view name, std::uint64_t value) {
    if (json_ != nullptr) {
      json_->field(name, value);
    } else {
      cell() += std::to_string(value);
    }
  }
  void id(std::string_view name, std::uint32_t value) {
    if (value != kUnknownId) {
      number(name, value);
    } else {
      absent();
    }
  }
  // Seconds in text; nanoseconds in JSON, where the key says so.
  void time(std::string_view name, std::uint64_t time_ns) {
    if (time_ns == kUnknownTime) {
      absent();
    } else if (json_ != nullptr) {
      json_->field(name, time_ns);
    } else {
      cell() += seconds_text(time_ns);
    }
  }
  // Addresses do not fit the numbers of many JSON readers: hex text in both forms.
  void address(std::string_view name, std::uint64_t value) {
    std::string hex = "0x";
    append_hex(hex, value);
    text(name, hex);
  }

 private:
  void absent() {
    if (json_ == nullptr) {
      cell() += '-';
    }
  }
  std::string& cell() {
    out_.text() += first_ ? "" : "\t";
    first_ = false;
    return out_.text();
  }

  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
  JsonText* json_ = nullptr;
  bool first_ = true;
};

// Writes every row of a table that was loaded, or passes its error on.
template <typename Row, typename Fields>
Status write_rows(const Result<std::vector<Row>>& rows, RowWriter& writer, const Fields& fields) {
  if (!rows) {
    return rows.error();
  }
  for (const Row& row : *rows) {
    if (const Status written = writer.row([&] { fields(row); }); !written) {
      return written;
    }
  }
  writer.end();
  return {};
}

std::string_view build_id_kind(BuildIdKind kind) {
  switch (kind) {
    case BuildIdKind::kNone:
      return "";
    case BuildIdKind::kGnu:
      return "gnu";
    case BuildIdKind::kPdb:
      return "pdb";
  }
  return "?";
}

Status dump_processes(const Reader& reader, bool as_json, app::TextOutput& out) {
  const Result<app::RecordedProcesses> recorded = app::RecordedProcesses::of(reader);
  if (!recorded) {
    return recorded.error();
  }
  RowWriter writer(out,
                   recorded->merged()
                       ? "#pid\tparent\tstart\tend\tmappings\tname\tcommand\tsource\trecorded_pid"
                       : "#pid\tparent\tstart\tend\tmappings\tname\tcommand",
                   as_json);
  return write_rows(reader.processes(), writer, [&](const Process& process) {
    writer.id("pid", process.pid);
    writer.id("parent_pid", process.parent_pid);
    writer.time("start_ns", process.start_ns);
    writer.time("end_ns", process.end_ns);
    writer.text("mappings", process.inherits_mappings ? "inherited" : "own");
    writer.text("name", process.name);
    writer.text("command_line", process.command_line);
    if (recorded->merged()) {
      const auto found = recorded->find(process.pid);
      writer.id("source", found ? found->source : kUnknownId);
      writer.id("recorded_pid", found ? found->pid : kUnknownId);
    }
  });
}

Status dump_threads(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out, "#pid\ttid\tstart\tend\tname", as_json);
  return write_rows(reader.threads(), writer, [&](const Thread& thread) {
    writer.id("pid", thread.pid);
    writer.id("tid", thread.tid);
    writer.time("start_ns", thread.start_ns);
    writer.time("end_ns", thread.end_ns);
    writer.text("name", thread.name);
  });
}

Status dump_modules(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out,
                   "#pid\tbase\tsize\tfile_offset\tstart\tend\tbuild_id_kind\tbuild_id\t"
                   "debug_name\tpath",
                   as_json);
  return write_rows(reader.modules(), writer, [&](const Module& module) {
    writer.id("pid", module.pid);  // the kernel's own have none
    writer.address("base", module.base);
    writer.address("size", module.size);
    writer.address("file_offset", module.file_offset);
    writer.time("start_ns", module.start_ns);
    writer.time("end_ns", module.end_ns);
    writer.text("build_id_kind", build_id_kind(module.build_id_kind));
    writer.text("build_id", app::listed_build_id(module));
    writer.text("debug_name", module.debug_name);
    writer.text("path", module.path);
  });
}

Status dump_events(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out, "#index\tsamples\tweighted\tname", as_json);
  const std::vector<EventCount>& counts = reader.statistics().events;
  std::uint64_t index = 0;
  return write_rows(reader.events(), writer, [&](const Event& event) {
    writer.number("index", index);
    writer.number("samples", index < counts.size() ? counts[index].samples : 0);
    writer.text("weighted", event.has_weight ? "yes" : "no");
    writer.text("name", event.name);
    ++index;
  });
}

Status dump_losses(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out, "#count\tkind\tfirst_offset\tname", as_json);
  const Result<std::vector<LossCounter>> losses = reader.statistics().losses;
  return write_rows(losses, writer, [&](const LossCounter& loss) {
    writer.number("count", loss.count);
    writer.text("kind", app::loss_kind_name(loss.kind));
    if (loss.first_offset != kNoOffset) {
      writer.number("first_offset", loss.first_offset);
    } else {
      writer.id("first_offset", kUnknownId);
    }
    writer.text("name", loss.name);
  });
}

Status dump_metadata(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out, "#key\tvalue", as_json);
  return write_rows(reader.metadata(), writer, [&](const MetadataEntry& entry) {
    writer.text("key", entry.key);
    writer.text("value", entry.value);
  });
}

std::string hex_of(const MergedSource::Hash& hash) {
  std::string text;
  for (const std::byte byte : hash) {
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return text;
}

Status dump_sources(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out,
                   "#source\tid\tkind\tbytes\tstart\twall_offset_ns\tsamples\tcallstacks\t"
                   "processes\thost\tfingerprint\tcommand",
                   as_json);
  std::uint64_t number = 0;
  return write_rows(reader.sources(), writer, [&](const MergedSource& source) {
    writer.number("source", number++);
    writer.text("id", hex_of(source.id));
    writer.text("kind", source.kind);
    writer.number("bytes", source.bytes);
    writer.time("start_ns", source.start_ns);
    writer.text("wall_offset_ns",
                source.wall_offset_ns ? std::to_string(*source.wall_offset_ns) : std::string());
    writer.number("samples", source.samples);
    writer.number("callstacks", source.callstacks);
    writer.number("processes", source.pids.size());
    writer.text("host", source.host);
    writer.text("fingerprint", source.fingerprint);
    writer.text("command_line", source.command_line);
  });
}

std::string_view owner_name(FunctionOwner owner) {
  switch (owner) {
    case FunctionOwner::kProcess:
      return "process";
    case FunctionOwner::kKernel:
      return "kernel";
    case FunctionOwner::kImage:
      return "image";
  }
  return "?";
}

Status dump_functions(const Reader& reader, bool as_json, app::TextOutput& out) {
  RowWriter writer(out,
                   "#owner\tpid\tmodule\tlife\tstart\tsize\tborn\tsource\tname\tlinkage\tfile\t"
                   "line",
                   as_json);
  const Result<Names> names = reader.names();
  if (!names) {
    return names.error();
  }
  const Result<std::vector<Function>> rows = names->functions;
  return write_rows(rows, writer, [&](const Function& function) {
    const bool in_process = function.owner == FunctionOwner::kProcess;
    const bool in_image = function.owner == FunctionOwner::kImage;
    writer.text("owner", owner_name(function.owner));
    writer.id("pid", in_process ? function.pid : kUnknownId);
    writer.id("module", in_image ? function.module : kUnknownId);
    writer.time("life_ns", function.life_ns);
    writer.address("start", function.start);
    writer.address("size", function.size);
    writer.time("born_ns", function.born_ns);
    writer.text("source", source_name(function.source));
    writer.text("name", names->texts[function.name]);
    writer.text("linkage", names->texts[function.linkage]);
    writer.text("file", names->texts[function.file]);
    writer.number("line", function.line);
  });
}

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

Status dump_table(const Reader& reader, DumpKind kind, bool as_json, app::TextOutput& out) {
  switch (kind) {
    case DumpKind::kProcesses:
      return dump_processes(reader, as_json, out);
    case DumpKind::kThreads:
      return dump_threads(reader, as_json, out);
    case DumpKind::kModules:
      return dump_modules(reader, as_json, out);
    case DumpKind::kEvents:
      return dump_events(reader, as_json, out);
    case DumpKind::kLosses:
      return dump_losses(reader, as_json, out);
    case DumpKind::kMetadata:
      return dump_metadata(reader, as_json, out);
    case DumpKind::kFunctions:
      return dump_functions(reader, as_json, out);
    case DumpKind::kSources:
      return dump_sources(reader, as_json, out);
    default:  // no table
      return {};
  }
}

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
