#include "export/formats/otlp_dictionary.h"

#include <map>
#include <tuple>

#include "export/formats/otlp_fields.h"
#include "query/naming/build_id_text.h"
#include "stackpack/names.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::exporting {

namespace {

std::int32_t index(std::uint64_t value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace

OtlpDictionary::OtlpDictionary(const query::SampleSelection& selection,
                               const query::LocationTable& locations, const query::StackTree& tree,
                               bool stack_tree)
    : selection_(selection),
      locations_(locations),
      tree_(tree),
      stack_tree_(stack_tree),
      attributes_(1),
      stacks_(1) {
  strings_.intern("");
  attribute_identities_.intern("");
}

std::uint32_t OtlpDictionary::attribute(std::string_view key, const OtlpValue& value) {
  static constexpr std::string_view kMarks = "=?#.";  // by type
  std::string identity(key);
  identity += kMarks[static_cast<std::size_t>(value.type)];
  identity += value.type == OtlpValue::Type::kText ? value.text : std::to_string(value.number);
  if (value.type == OtlpValue::Type::kInteger && !value.unit.empty()) {
    identity += " " + value.unit;
  }
  const std::uint32_t number = attribute_identities_.intern(identity);
  if (number == attributes_.size()) {
    attributes_.push_back({string(key), value, string(value.unit)});
  }
  return number;
}

std::uint32_t OtlpDictionary::text_attribute(std::string_view key, std::string_view value) {
  return attribute(key, {OtlpValue::Type::kText, 0, std::string(value)});
}

std::uint32_t OtlpDictionary::number_attribute(std::string_view key, std::uint64_t value) {
  return attribute(key, {OtlpValue::Type::kInteger, value, {}});
}

std::uint32_t OtlpDictionary::link(const std::string& trace_id, const std::string& span_id) {
  if (trace_id.empty() && span_id.empty()) {
    return 0;
  }
  const auto [known, fresh] =
      link_numbers_.try_emplace({trace_id, span_id}, static_cast<std::uint32_t>(links_.size() + 1));
  if (fresh) {
    links_.emplace_back(trace_id, span_id);
  }
  return known->second;
}

const std::vector<std::uint32_t>& OtlpDictionary::attributes_of(std::uint32_t number) {
  const auto [found, fresh] = attributes_of_track_.try_emplace(number);
  if (fresh) {
    const query::Track& track = selection_.tracks()[number];
    std::vector<std::uint32_t>& attributes = found->second;
    if (track.pid != kUnknownId) {
      attributes.push_back(number_attribute("process.pid", track.pid));
    }
    if (const std::string_view name = selection_.process_name(track); !name.empty()) {
      attributes.push_back(text_attribute("process.executable.name", name));
    }
    if (track.tid != kUnknownId) {
      attributes.push_back(number_attribute("thread.id", track.tid));
    }
    if (const std::string_view name = selection_.thread_name(track); !name.empty()) {
      attributes.push_back(text_attribute("thread.name", name));
    }
  }
  return found->second;
}

std::uint32_t OtlpDictionary::stack(std::uint32_t node) {
  if (node == query::StackTree::kRoot) {
    return 0;
  }
  if (index_of_node_.size() <= node) {
    index_of_node_.resize(tree_.node_count());
  }
  if (index_of_node_[node] == 0) {
    index_of_node_[node] = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back(node);
  }
  return stack_tree_ ? node : index_of_node_[node];
}

void OtlpDictionary::write_mappings(SpilledMessage& out) {
  protozero::pbf_writer top(out.buffer());
  top.add_message(otlp::dictionary::kMappingTable, std::string());
  mapping_of_image_.assign(locations_.image_count(), 0);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < locations_.size(); ++i) {
    const std::uint32_t image = locations_.location(i).image;
    if (image == query::kNoImage || mapping_of_image_[image] != 0) {
      continue;
    }
    mapping_of_image_[image] = ++count;
    const Module& module = locations_.module_of_image(image);
    {
      protozero::pbf_writer mapping(top, otlp::dictionary::kMappingTable);
      mapping.add_uint64(otlp::mapping::kMemoryStart, module.base);
      mapping.add_uint64(otlp::mapping::kMemoryLimit, module.base + module.size);
      mapping.add_uint64(otlp::mapping::kFileOffset, module.file_offset);
      mapping.add_int32(otlp::mapping::kFilename, index(string(module.path)));
      if (module.build_id_kind != BuildIdKind::kNone) {
        const bool gnu = module.build_id_kind == BuildIdKind::kGnu;
        const std::int32_t id =
            index(text_attribute(gnu ? "process.executable.build_id.gnu" : "stackpack.build_id.pdb",
                                 query::build_id_text(module)));
        mapping.add_packed_int32(otlp::mapping::kAttributeIndices, &id, &id + 1);
      }
    }
    out.flush_if_full();
  }
}

// That of an imported profile; else of those with an address, by who named it, or where it ran.
std::string_view OtlpDictionary::frame_type_of(const query::Location& place) const {
  const FunctionSource source =
      place.code == query::kNoCode
          ? FunctionSource::kUnknown
          : locations_.functions()[locations_.places()[place.code].function].source;
  const std::string_view imported = stackpack::frame_type_of(source);
  if (!imported.empty() || !place.has_address) {
    return imported;
  }
  if (source == FunctionSource::kClr) {
    return "dotnet";
  }
  if (source == FunctionSource::kJScript) {
    return "v8js";
  }
  return place.mode == FrameMode::kKernel || place.mode == FrameMode::kGuestKernel ? "kernel"
                                                                                   : "native";
}

void OtlpDictionary::write_locations(SpilledMessage& out) {
  protozero::pbf_writer top(out.buffer());
  top.add_message(otlp::dictionary::kLocationTable, std::string());
  for (std::uint32_t i = 0; i < locations_.size(); ++i) {
    const query::Location& place = locations_.location(i);
    {
      protozero::pbf_writer location(top, otlp::dictionary::kLocationTable);
      const auto write_line = [&location](std::uint64_t function, std::uint32_t number) {
        protozero::pbf_writer line(location, otlp::location::kLines);
        line.add_int32(otlp::line::kFunctionIndex, index(function));
        if (number != 0) {
          line.add_int64(otlp::line::kLine, number);
        }
      };
      // A name without an address is one of its image all the same.
      if (place.image != query::kNoImage) {
        location.add_int32(otlp::location::kMappingIndex, index(mapping_of_image_[place.image]));
      }
      if (place.has_address) {
        location.add_uint64(otlp::location::kAddress, place.address);
      }
      if (const std::string_view frame_type = frame_type_of(place); !frame_type.empty()) {
        const std::int32_t type = index(text_attribute("profile.frame.type", frame_type));
        location.add_packed_int32(otlp::location::kAttributeIndices, &type, &type + 1);
      }
      // Inlined functions come before the one that has the code.
      for (std::uint32_t at = place.code; at != query::kNoCode;
           at = locations_.places()[at].outer) {
        write_line(entry_of_function_[locations_.places()[at].function],
                   locations_.places()[at].line);
      }
    }
    out.flush_if_full();
  }
}

// Functions that differ in nothing that the table has, but in who named them, are one entry.
void OtlpDictionary::number_functions() {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t>
      numbers;
  for (const query::FunctionName& known : locations_.functions()) {
    const auto [number, fresh] =
        numbers.try_emplace({known.name, known.linkage, known.file, known.start_line},
                            static_cast<std::uint32_t>(numbers.size() + 1));
    entry_of_function_.push_back(number->second);
  }
}

void OtlpDictionary::write_functions(SpilledMessage& out) {
  protozero::pbf_writer top(out.buffer());
  top.add_message(otlp::dictionary::kFunctionTable, std::string());
  std::uint32_t written = 0;
  for (std::size_t i = 0; i < entry_of_function_.size(); ++i) {
    if (entry_of_function_[i] <= written) {
      continue;
    }
    written = entry_of_function_[i];
    const query::FunctionName& known = locations_.functions()[i];
    {
      protozero::pbf_writer function(top, otlp::dictionary::kFunctionTable);
      function.add_int32(otlp::function::kName, index(string(locations_.text(known.name))));
      function.add_int32(otlp::function::kSystemName,
                         index(string(locations_.text(known.linkage))));
      if (known.file != 0) {
        function.add_int32(otlp::function::kFilename, index(string(locations_.text(known.file))));
      }
      if (known.start_line != 0) {
        function.add_int64(otlp::function::kStartLine, known.start_line);
      }
    }
    out.flush_if_full();
  }
}

void OtlpDictionary::write_stacks(SpilledMessage& out) {
  std::vector<std::uint32_t> path;
  protozero::pbf_writer top(out.buffer());
  top.add_message(otlp::dictionary::kStackTable, std::string());
  for (std::size_t i = 1; i < stacks_.size(); ++i) {
    tree_.path_to_root(stacks_[i], path);
    for (std::uint32_t& location : path) {
      ++location;
    }
    {
      protozero::pbf_writer stack(top, otlp::dictionary::kStackTable);
      stack.add_packed_int32(otlp::stack::kLocationIndices, path.begin(), path.end());
    }
    out.flush_if_full();
  }
}

void OtlpDictionary::write_tree(SpilledMessage& out) {
  std::vector<std::uint32_t> parents(tree_.node_count());
  std::vector<std::uint32_t> places(tree_.node_count());
  for (std::uint32_t node = 1; node < tree_.node_count(); ++node) {
    parents[node] = tree_.parent(node);
    places[node] = tree_.location(node) + 1;
  }
  {
    protozero::pbf_writer top(out.buffer());
    protozero::pbf_writer tree(top, otlp::dictionary::kStackTree);
    tree.add_packed_uint32(otlp::stack_tree::kParentIndices, parents.begin(), parents.end());
    tree.add_packed_uint32(otlp::stack_tree::kLocationIndices, places.begin(), places.end());
  }
  out.flush_if_full();
}

void OtlpDictionary::write_attributes(SpilledMessage& out) {
  protozero::pbf_writer top(out.buffer());
  top.add_message(otlp::dictionary::kAttributeTable, std::string());
  for (std::size_t i = 1; i < attributes_.size(); ++i) {
    {
      protozero::pbf_writer attribute(top, otlp::dictionary::kAttributeTable);
      attribute.add_int32(otlp::attribute::kKey, index(attributes_[i].key));
      {
        protozero::pbf_writer value(attribute, otlp::attribute::kValue);
        write_value(value, attributes_[i].value);
      }
      if (attributes_[i].unit != 0) {
        attribute.add_int32(otlp::attribute::kUnit, index(attributes_[i].unit));
      }
    }
    out.flush_if_full();
  }
}

void OtlpDictionary::write_links(SpilledMessage& out) {
  protozero::pbf_writer top(out.buffer());
  top.add_message(otlp::dictionary::kLinkTable, std::string());
  for (const auto& [trace_id, span_id] : links_) {
    {
      protozero::pbf_writer link(top, otlp::dictionary::kLinkTable);
      link.add_bytes(otlp::link::kTraceId, trace_id);
      link.add_bytes(otlp::link::kSpanId, span_id);
    }
    out.flush_if_full();
  }
}

void OtlpDictionary::write_strings(SpilledMessage& out) {
  protozero::pbf_writer top(out.buffer());
  for (std::uint32_t i = 0; i < strings_.size(); ++i) {
    const std::string_view text = strings_.text(i);
    top.add_string(otlp::dictionary::kStringTable, text.data(), text.size());
    out.flush_if_full();
  }
}

void OtlpDictionary::write(SpilledMessage& out) {
  number_functions();
  write_mappings(out);
  write_locations(out);
  write_functions(out);
  if (stack_tree_) {
    write_tree(out);
  } else {
    write_stacks(out);
  }
  write_links(out);
  write_attributes(out);
  write_strings(out);
}

}  // namespace stackpack::exporting
