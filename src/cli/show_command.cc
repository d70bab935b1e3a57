#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/listing/function_titles.h"
#include "app/listing/stack_listing.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/frame_text.h"
#include "cli/json_text.h"
#include "cli/name_column.h"
#include "cli/shown_capture.h"
#include "cli/text_escape.h"
#include "stackpack/names.h"
#include "stackpack/symbols.h"

namespace stackpack::cli {

namespace {

using Places = std::vector<std::optional<symbols::MappingContext>>;

// `module+0xoffset` where a mapping has it, else the address with its mode letter.
void append_place(std::string& out, const Frame& frame, const CodeLocation& location) {
  if (location.module != nullptr) {
    append_escaped(out, location.module->path);
    out += "+0x";
    append_hex(out, location.offset);
  } else {
    append_frame(out, frame);
  }
}

// What the functions of a callstack are called.
class FrameNames {
 public:
  FrameNames(app::FunctionNames kind, const Symbols& symbols,
             const std::vector<CodeLocation>& locations)
      : kind_(kind) {
    if (kind_ != app::FunctionNames::kShort) {
      return;
    }
    std::vector<InlineFrame> frames;
    for (const CodeLocation& location : locations) {
      symbols.expand(location, frames);
    }
    std::vector<app::FunctionTitle> titles;
    titles.reserve(frames.size());
    for (const InlineFrame& frame : frames) {
      titles.push_back({frame.name, "", ""});
    }
    const std::vector<std::string> names = app::function_titles(titles, kind_);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      short_.emplace(frames[i].name, names[i]);
    }
  }

  void append(std::string& out, const InlineFrame& frame) const {
    const auto found = short_.find(frame.name);
    append_escaped(out, kind_ == app::FunctionNames::kLinkage ? frame.linkage
                        : found == short_.end()               ? frame.name
                                                              : std::string_view(found->second));
  }

 private:
  app::FunctionNames kind_;
  std::map<std::string_view, std::string> short_;
};

// `function+0xoffset (module)`, with file and line where they are known; calls that were inlined
// come before what they were inlined in.
void append_function(std::string& out, const Symbols& symbols, const CodeLocation& location,
                     const FrameNames& names, std::vector<InlineFrame>& scratch) {
  scratch.clear();
  symbols.expand(location, scratch);
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    const bool inlined = i + 1 < scratch.size();
    names.append(out, scratch[i]);
    if (inlined) {
      out += " [inlined]";
    } else if (location.function != nullptr && location.function->size > 1) {
      out += "+0x";
      append_hex(out, location.function_offset);
    }
    if (location.module != nullptr && location.function != nullptr) {
      out += " (";
      append_escaped(out, location.module->path);
      out += ')';
    }
    if (!scratch[i].file.empty()) {
      out += " at ";
      append_escaped(out, scratch[i].file);
      out += scratch[i].line == 0 ? "" : fmt::format(":{}", scratch[i].line);
    }
    out += inlined ? "\n" : "";
  }
}

std::size_t shown_frames(std::span<const Frame> frames, const ShowArguments& arguments) {
  return arguments.limit == 0 ? frames.size() : std::min(arguments.limit, frames.size());
}

void write_text(std::string& out, const Symbols& symbols, const ShowArguments& arguments,
                std::span<const Frame> frames, const std::vector<CodeLocation>& locations) {
  const FrameStyle style = arguments.frames;
  const FrameNames names(names_or_default(arguments.names), symbols, locations);
  std::vector<InlineFrame> scratch;
  const std::size_t shown = shown_frames(frames, arguments);
  for (std::size_t i = 0; i < shown; ++i) {
    if (style == FrameStyle::kAddress) {
      append_frame(out, frames[i]);
    } else if ((style == FrameStyle::kFunction || !locations[i].has_address) &&
               !locations[i].name.empty()) {
      append_function(out, symbols, locations[i], names, scratch);
    } else {
      append_place(out, frames[i], locations[i]);
    }
    out += '\n';
  }
  if (shown < frames.size()) {
    out += fmt::format("... {} more frames\n", frames.size() - shown);
  }
}

void write_frame(JsonText& json, const Symbols& symbols, const Frame& frame,
                 const CodeLocation& location) {
  json.begin_object();
  std::string address;
  append_frame(address, frame);
  json.field("address", address);
  if (location.module != nullptr) {
    json.field("module", location.module->path);
    json.field("offset", location.offset);
  }
  if (!location.name.empty()) {
    json.field("function", location.name);
    json.field("function_id", app::function_id(location));
    if (location.linkage != location.name) {
      json.field("linkage", location.linkage);
    }
  }
  if (location.function != nullptr) {
    json.field("function_offset", location.function_offset);
    json.field("source", source_name(location.function->source));
  }
  if (!location.file.empty()) {
    json.field("file", location.file);
    json.field("line", location.line);
  }
  if (location.inlined != kNoInline) {
    std::vector<InlineFrame> chain;
    symbols.expand(location, chain);
    json.key("inlined");
    json.begin_array();
    for (const InlineFrame& inlined : chain) {
      json.begin_object();
      json.field("function", inlined.name);
      json.field("file", inlined.file);
      json.field("line", inlined.line);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

void write_json(JsonText json, const Symbols& symbols, StackId id,
                const std::optional<symbols::MappingContext>& place, std::span<const Frame> frames,
                std::size_t shown, const std::vector<CodeLocation>& locations) {
  json.begin_object();
  json.field("id", id);
  if (place) {
    json.field("pid", place->pid);
    json.field("time_ns", place->time_ns);
  }
  json.key("frames");
  json.begin_array();
  for (std::size_t i = 0; i < shown; ++i) {
    write_frame(json, symbols, frames[i], locations[i]);
  }
  json.end_array();
  if (shown < frames.size()) {
    json.field("frames_left_out", frames.size() - shown);
  }
  json.end_object();
}

}  // namespace

Status append_callstacks(const Reader& reader, const ShowArguments& arguments, std::string& out,
                         const std::function<Status()>& written) {
  const app::PlaceFilter filter{arguments.pid, arguments.from, arguments.to};
  const Result<Places> places = app::first_places(reader, arguments.ids, filter);
  if (!places) {
    return places.error();
  }
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  std::optional<JsonLines> lines;
  if (arguments.json) {
    lines.emplace(out);
  }
  std::vector<Frame> frames;
  std::vector<CodeLocation> locations;
  for (std::size_t i = 0; i < arguments.ids.size(); ++i) {
    const Status read = reader.callstack(arguments.ids[i], frames);
    if (!read) {
      return read;
    }
    // Without a sample no process is known; the kernel's addresses are everybody's.
    const symbols::MappingContext place =
        (*places)[i].value_or(symbols::MappingContext{kUnknownId, kUnknownTime - 1});
    (*symbols)->locate_stack(frames, place.pid, place.time_ns, locations);
    if (lines) {
      write_json(lines->element(), **symbols, arguments.ids[i], (*places)[i], frames,
                 shown_frames(frames, arguments), locations);
    } else {
      if (arguments.ids.size() > 1) {
        out += fmt::format("stack {}:\n", arguments.ids[i]);
      }
      write_text(out, **symbols, arguments, frames, locations);
    }
    if (const Status taken = written(); !taken) {
      return taken;
    }
  }
  if (lines) {
    lines->end();
  }
  return {};
}

int run_show(const ShowArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const auto opened = open_shown(arguments.file, arguments.capture, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  const Reader* const reader = &opened->reader();
  for (const StackId id : arguments.ids) {
    if (id >= reader->stack_count()) {
      messages.error(arguments.file, reader->stack_count() == 0
                                         ? fmt::format("no callstack {}; the file has none", id)
                                         : fmt::format("no callstack {}; ids go from 0 to {}", id,
                                                       reader->stack_count() - 1));
      return kExitUsage;
    }
  }
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  const Status shown = append_callstacks(*reader, arguments, (*out)->text(),
                                         [&out] { return (*out)->checkpoint(); });
  return finish_output(**out, shown, arguments.file, messages);
}

}  // namespace stackpack::cli
