#include "export/formats/perfetto_interning.h"

#include <algorithm>

#include "export/formats/perfetto_fields.h"

namespace stackpack::exporting {

void PerfettoInterning::add_text(protozero::pbf_writer& out, std::uint32_t list, std::uint64_t iid,
                                 std::string_view text) {
  protozero::pbf_writer entry(out, list);
  entry.add_uint64(perfetto::text::kIid, iid);
  entry.add_bytes(perfetto::text::kText, text.data(), text.size());
}

// A path is a list of its parts, before each of which viewers put a slash.
void PerfettoInterning::add_image(protozero::pbf_writer& out, std::uint32_t image) {
  const Module& module = locations_.module_of_image(image);
  std::string_view path = module.path;
  path.remove_prefix(path.starts_with('/') ? 1 : 0);
  std::vector<std::uint64_t> parts;
  while (true) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    parts.push_back(++path_texts_);
    add_text(out, perfetto::interned::kMappingPaths, path_texts_, path.substr(0, slash));
    if (slash == path.size()) {
      break;
    }
    path.remove_prefix(slash + 1);
  }
  const bool has_build_id = !module.build_id.empty();
  if (has_build_id) {
    const std::string id(module.build_id.begin(), module.build_id.end());
    add_text(out, perfetto::interned::kBuildIds, std::uint64_t{image} + 1, id);
  }
  protozero::pbf_writer mapping(out, perfetto::interned::kMappings);
  mapping.add_uint64(perfetto::mapping::kIid, std::uint64_t{image} + 1);
  if (has_build_id) {
    mapping.add_uint64(perfetto::mapping::kBuildId, std::uint64_t{image} + 1);
  }
  mapping.add_uint64(perfetto::mapping::kStart, module.base);
  mapping.add_uint64(perfetto::mapping::kEnd, module.base + module.size);
  mapping.add_uint64(perfetto::mapping::kExactOffset, module.file_offset);
  for (const std::uint64_t part : parts) {
    mapping.add_uint64(perfetto::mapping::kPathTexts, part);
  }
}

void PerfettoInterning::add_frame(protozero::pbf_writer& out, std::uint32_t number) {
  const query::Location& location = locations_.location(number);
  const bool has_image = location.has_address && location.image != query::kNoImage;
  if (has_image && images_(location.image)) {
    add_image(out, location.image);
  }
  std::uint64_t name = 0;
  std::uint64_t file = 0;
  std::uint32_t line = 0;
  if (location.code != query::kNoCode) {
    const query::SourcePlace& place = locations_.places()[location.code];
    const query::FunctionName& function = locations_.functions()[place.function];
    // Numbers of texts are odd, so that addresses without a name can have texts of their own.
    name = 2 * std::uint64_t{function.name} + 1;
    line = place.line;
    if (names_(function.name)) {
      add_text(out, perfetto::interned::kFunctionNames, name, locations_.text(function.name));
    }
    if (function.file != 0) {
      file = std::uint64_t{function.file} + 1;
      if (files_(function.file)) {
        add_text(out, perfetto::interned::kSourcePaths, file, locations_.text(function.file));
      }
    }
  } else if (!has_image && location.has_address) {
    std::string text;
    locations_.append_address(number, text);
    name = 2 * (std::uint64_t{number} + 1);
    add_text(out, perfetto::interned::kFunctionNames, name, text);
  }
  protozero::pbf_writer frame(out, perfetto::interned::kFrames);
  frame.add_uint64(perfetto::frame::kIid, std::uint64_t{number} + 1);
  if (name != 0) {
    frame.add_uint64(perfetto::frame::kFunctionName, name);
  }
  if (has_image) {
    frame.add_uint64(perfetto::frame::kMapping, std::uint64_t{location.image} + 1);
    frame.add_uint64(perfetto::frame::kRelativePc, locations_.file_offset(number));
  }
  if (file != 0) {
    frame.add_uint64(perfetto::frame::kSourcePath, file);
  }
  if (line != 0) {
    frame.add_uint32(perfetto::frame::kLine, line);
  }
}

const std::string& PerfettoInterning::need(std::uint32_t node) {
  bytes_.clear();
  if (!stacks_(node)) {
    return bytes_;
  }
  protozero::pbf_writer out(bytes_);
  tree_.path_to_root(node, path_);
  std::reverse(path_.begin(), path_.end());
  for (const std::uint32_t location : path_) {
    if (frames_(location)) {
      add_frame(out, location);
    }
  }
  protozero::pbf_writer stack(out, perfetto::interned::kCallstacks);
  stack.add_uint64(perfetto::callstack::kIid, node);
  for (const std::uint32_t location : path_) {
    stack.add_uint64(perfetto::callstack::kFrames, std::uint64_t{location} + 1);
  }
  return bytes_;
}

}  // namespace stackpack::exporting
