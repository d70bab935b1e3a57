#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "app/listing/stack_places.h"
#include "app/listing/stack_symbols.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/frame_text.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using Places = std::vector<std::optional<app::StackPlace>>;

// module+0xoffset where the mappings tell, else the address with its mode letter.
void append_location(std::string& out, const Frame& frame,
                     const std::optional<app::FrameLocation>& location) {
  if (location) {
    append_escaped(out, location->module->path);
    out += "+0x";
    append_hex(out, location->offset);
  } else {
    append_frame(out, frame);
  }
}

void write_text(std::string& out, StackId id, bool with_title, std::span<const Frame> frames,
                const std::vector<std::optional<app::FrameLocation>>& locations) {
  if (with_title) {
    out += fmt::format("stack {}:\n", id);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    append_location(out, frames[i], locations[i]);
    out += '\n';
  }
}

void write_json(JsonText json, StackId id, const std::optional<app::StackPlace>& place,
                std::span<const Frame> frames,
                const std::vector<std::optional<app::FrameLocation>>& locations) {
  json.begin_object();
  json.field("id", id);
  if (place) {
    json.field("pid", place->pid);
    json.field("time_ns", place->time_ns);
  }
  json.key("frames");
  json.begin_array();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    json.begin_object();
    std::string address;
    append_frame(address, frames[i]);
    json.field("address", address);
    if (locations[i]) {
      json.field("module", locations[i]->module->path);
      json.field("offset", locations[i]->offset);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

// Shows the stacks one after the other, in the order asked for.
Status show(const Reader& reader, const ShowArguments& arguments, app::TextOutput& out) {
  const app::PlaceFilter filter{arguments.pid, arguments.from, arguments.to};
  const Result<Places> places = app::first_places(reader, arguments.ids, filter);
  if (!places) {
    return places.error();
  }
  const Result<app::StackSymbols> symbols = app::StackSymbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  std::optional<JsonLines> lines;
  if (arguments.json) {
    lines.emplace(out.text());
  }
  std::vector<Frame> frames;
  std::vector<std::optional<app::FrameLocation>> locations;
  for (std::size_t i = 0; i < arguments.ids.size(); ++i) {
    const Status read = reader.callstack(arguments.ids[i], frames);
    if (!read) {
      return read;
    }
    locations.clear();
    for (const Frame& frame : frames) {
      const std::optional<app::StackPlace>& place = (*places)[i];
      locations.push_back(place ? symbols->locate(*place, frame) : std::nullopt);
    }
    if (lines) {
      write_json(lines->element(), arguments.ids[i], (*places)[i], frames, locations);
    } else {
      write_text(out.text(), arguments.ids[i], arguments.ids.size() > 1, frames, locations);
    }
    if (const Status written = out.checkpoint(); !written) {
      return written;
    }
  }
  if (lines) {
    lines->end();
  }
  return {};
}

}  // namespace

int run_show(const ShowArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const std::unique_ptr<Reader> reader = open_or_explain(arguments.file, messages, exit_code);
  if (!reader) {
    return exit_code;
  }
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
  return finish_output(**out, show(*reader, arguments, **out), arguments.file, messages);
}

}  // namespace stackpack::cli
