#include "formats/otlp/otlp_tables.h"

#include <algorithm>

#include "bytes/byte_text.h"
#include "capture/unnamed_code.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/otlp_losses.h"
#include "stackpack/names.h"
#include <protozero/exception.hpp>

namespace stackpack::otlp {

namespace {

constexpr std::uint64_t kMostFrames = 65'535;  // of a callstack that can be stored
constexpr std::uint64_t kBytesPerEntry = 64;   // about what an entry takes besides its texts

bool is_number(const AttributeValue& value) {
  return value.type == AttributeType::kInteger && value.number < kUnknownId;
}

}  // namespace

OtlpTables::Key OtlpTables::key_of(std::string_view name, const AttributeValue& value) {
  struct Row {
    std::string_view name;
    Key key = Key::kOther;
    bool is_number = false;
  };
  static constexpr Row kKeys[] = {
      {"process.pid", Key::kPid, true},
      {"thread.id", Key::kTid, true},
      {"thread.name", Key::kThreadName},
      {"process.executable.name", Key::kProcessName},
      {"cpu.logical_number", Key::kProcessor, true},
      {"stackpack.event", Key::kEvent},
      {"process.executable.build_id.gnu", Key::kBuildId},
      {"profile.frame.type", Key::kFrameType},
  };
  for (const Row& row : kKeys) {
    if (row.name == name) {
      const bool is_text = value.type == AttributeType::kText && !value.text.empty();
      return (row.is_number ? is_number(value) : is_text) ? row.key : Key::kOther;
    }
  }
  return Key::kOther;
}

void OtlpTables::clear() {
  bytes_ = 0;
  strings_.clear();
  mappings_.clear();
  locations_.clear();
  lines_.clear();
  functions_.clear();
  attributes_.clear();
  units_.clear();
  location_attributes_.clear();
  frame_attributes_.clear();
  links_.clear();
  stacks_.clear();
  stack_locations_.clear();
}

void OtlpTables::damaged(std::string_view loss) {
  sink_.losses().add(loss, LossKind::kDamage, 1, offset_);
}

Status OtlpTables::take(std::uint32_t field, std::span<const std::byte> content,
                        std::uint64_t offset) {
  offset_ = offset;
  // A number in a message is at least a byte, and eight here.
  bytes_ += kBytesPerEntry + content.size() * (field == kStringTable ? 1 : 8);
  if (bytes_ > max_bytes_) {
    return Error{ErrorCode::kLimit, offset, "otlp: the dictionary is larger than allowed"};
  }
  try {
    switch (field) {
      case kStringTable:
        strings_.emplace_back(bytes::text_of(content));
        break;
      case kMappingTable:
        read_mapping(content);
        break;
      case kLocationTable:
        read_location(content);
        break;
      case kFunctionTable:
        read_function(content);
        break;
      case kAttributeTable:
        read_attribute(content);
        break;
      case kLinkTable:
        read_link(content);
        break;
      case kStackTable:
        read_stack(content);
        break;
      case kAttributeUnits:
        read_unit(content);
        break;
      default:
        break;
    }
  } catch (const protozero::exception&) {
    damaged(loss::kDamagedTableEntry);
  }
  return {};
}

void OtlpTables::take_nothing(std::uint32_t field, std::uint64_t offset) {
  offset_ = offset;
  const Status taken = take(field, {}, offset);
  damaged(loss::kDamagedTableEntry);
  static_cast<void>(taken);
}

// An entry is there before it is read, so that the indices of the others stay where damage is.
void OtlpTables::read_mapping(std::span<const std::byte> content) {
  Mapping& mapping = mappings_.emplace_back();
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kMappingStart):
        mapping.start = message.get_uint64();
        break;
      case number(kMappingOffset):
        mapping.offset = message.get_uint64();
        break;
      case number(kMappingFile):
        mapping.file = message.get_uint64();
        break;
      case number(kMappingAttribute):
      case bytes(kMappingAttribute):
        each_number(message, [&](std::uint64_t id) { mapping.attributes.push_back(id); });
        break;
      default:
        message.skip();
    }
  }
}

void OtlpTables::read_location(std::span<const std::byte> content) {
  Location& location = locations_.emplace_back();
  location.first_line = lines_.size();
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kLocationMapping):
        location.mapping = message.get_uint64();
        break;
      case number(kLocationAddress):
        location.address = message.get_uint64();
        break;
      case bytes(kLocationLine):
        lines_.push_back(protobuf::read_line(message.get_message()));
        ++location.lines;
        break;
      case number(kLocationAttribute):
      case bytes(kLocationAttribute):
        each_number(message, [&](std::uint64_t id) {
          location_attributes_.push_back({locations_.size() - 1, id});
        });
        break;
      default:
        message.skip();
    }
  }
}

void OtlpTables::read_function(std::span<const std::byte> content) {
  protobuf::FunctionEntry& function = functions_.emplace_back();
  for (auto message = message_of(content); message.next();) {
    protobuf::take_function_field(message, kFunctionName, function);
  }
}

void OtlpTables::read_attribute(std::span<const std::byte> content) {
  Attribute& attribute = attributes_.emplace_back();
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kAttributeKey):
        attribute.key_text = message.get_uint64();
        break;
      case bytes(kAttributeKey):
        attribute.own_key = message.get_string();
        break;
      case bytes(kAttributeValue):
        attribute.value = read_any_value(message.get_message());
        break;
      case number(kAttributeUnit):
        attribute.unit = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
}

void OtlpTables::read_link(std::span<const std::byte> content) {
  Link& link = links_.emplace_back();
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case bytes(kTraceId):
        link.trace = hex_of(message.get_string());
        break;
      case bytes(kSpanId):
        link.span = hex_of(message.get_string());
        break;
      default:
        message.skip();
    }
  }
}

void OtlpTables::read_stack(std::span<const std::byte> content) {
  stacks_.push_back({stack_locations_.size(), 0});
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kStackLocation):
      case bytes(kStackLocation):
        each_number(message, [&](std::uint64_t id) {
          stack_locations_.push_back(id);
          ++stacks_.back().size;
        });
        break;
      default:
        message.skip();
    }
  }
}

void OtlpTables::read_unit(std::span<const std::byte> content) {
  auto& [key, unit] = units_.emplace_back();
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kUnitKey):
        key = message.get_uint64();
        break;
      case number(kUnitText):
        unit = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
}

const std::string& OtlpTables::text(std::uint64_t index) {
  static const std::string none;
  if (index < strings_.size()) {
    return strings_[static_cast<std::size_t>(index)];
  }
  damaged(loss::kUnknownIndex);
  return none;
}

const OtlpTables::Attribute* OtlpTables::attribute(std::uint64_t index) {
  if (index < attributes_.size()) {
    return &attributes_[static_cast<std::size_t>(index)];
  }
  damaged(loss::kUnknownIndex);
  return nullptr;
}

const OtlpTables::Link* OtlpTables::link(std::uint64_t index) {
  if (index < links_.size()) {
    return &links_[static_cast<std::size_t>(index)];
  }
  damaged(loss::kUnknownIndex);
  return nullptr;
}

// One unit for all attributes of a key, of releases before 1.8.
void OtlpTables::settle_units() {
  std::map<std::string_view, std::uint64_t> unit_of;
  for (const auto& [key, unit] : units_) {
    unit_of.try_emplace(text(key), unit);
  }
  if (unit_of.empty()) {
    return;
  }
  for (Attribute& attribute : attributes_) {
    const auto known = unit_of.find(name_of(attribute));
    attribute.unit = attribute.unit == 0 && known != unit_of.end() ? known->second : attribute.unit;
  }
}

void OtlpTables::settle_attributes() {
  for (Attribute& attribute : attributes_) {
    AttributeValue& value = attribute.value;
    if (value.type == AttributeType::kTextIndex) {
      value = {AttributeType::kText, 0, text(value.number)};
    }
    attribute.key = key_of(name_of(attribute), value);
  }
  settle_units();
}

// A frame has one type; one that the format does not know is no different from other attributes.
void OtlpTables::settle_locations() {
  for (const LocationAttribute& given : location_attributes_) {
    Location& location = locations_[given.location];
    const Attribute* const attribute = find_attribute(given.id);
    const FunctionSource type = attribute != nullptr && attribute->key == Key::kFrameType
                                    ? source_of_frame_type(attribute->value.text)
                                    : FunctionSource::kUnknown;
    if (type == FunctionSource::kUnknown || location.type != FunctionSource::kUnknown) {
      frame_attributes_.insert(given.id);
    } else {
      location.type = type;
    }
  }
  location_attributes_ = {};
}

void OtlpTables::finish() {
  settle_attributes();
  settle_locations();
  for (Mapping& mapping : mappings_) {
    for (const std::uint64_t id : mapping.attributes) {
      const Attribute* const given = attribute(id);
      if (given != nullptr && given->key == Key::kBuildId) {
        mapping.build_id = protobuf::bytes_of_hex(given->value.text);
      } else {
        frame_attributes_.insert(id);
      }
    }
  }
  frame_attributes_.erase(0);
  if (!frame_attributes_.empty()) {
    sink_.losses().add(loss::kFrameAttributesNotKept, LossKind::kNotice, frame_attributes_.size());
  }
}

const protobuf::FunctionEntry& OtlpTables::function_of(const protobuf::LineEntry& line) {
  static const protobuf::FunctionEntry none;
  if (line.function < functions_.size()) {
    return functions_[static_cast<std::size_t>(line.function)];
  }
  damaged(loss::kUnknownIndex);
  return none;
}

void OtlpTables::describe(const Location& location, capture::FunctionFact& fact) {
  const std::span<const protobuf::LineEntry> lines =
      std::span(lines_).subspan(static_cast<std::size_t>(location.first_line), location.lines);
  const protobuf::FunctionEntry& innermost = protobuf::describe_lines(
      lines, [this](std::uint64_t index) -> const std::string& { return text(index); },
      [this](const protobuf::LineEntry& line) -> const protobuf::FunctionEntry& {
        return function_of(line);
      },
      inlined_, fact);
  if (lines.size() > 1 || lines.front().line != 0) {
    fact.code = {text(innermost.file), lines.front().line, inlined_};
  }
}

std::string OtlpTables::unnamed(const Location& location, const Mapping& mapping) {
  return capture::unnamed_code(text(mapping.file),
                               protobuf::hex(location.address - mapping.start + mapping.offset));
}

Result<std::uint64_t> OtlpTables::address_of(const Location& location) {
  static const Mapping none;
  const bool known = location.mapping < mappings_.size();
  const Mapping& mapping = known ? mappings_[static_cast<std::size_t>(location.mapping)] : none;
  if (!known && location.mapping != 0) {
    damaged(loss::kUnknownIndex);
  }
  const std::string& path = text(mapping.file);
  capture::FunctionFact fact;
  fact.source = location.type;
  std::string name;
  if (location.lines != 0) {
    describe(location, fact);
  } else {
    name = path.empty() ? protobuf::hex(location.address) : unnamed(location, mapping);
    fact.name = name;
  }
  const auto address = names_.address_of(fact, {path, mapping.build_id});
  return address ? Result<std::uint64_t>(*address)
                 : Result<std::uint64_t>(Error{ErrorCode::kLimit, offset_, "otlp: too many names"});
}

Result<bool> OtlpTables::append_stack(std::uint64_t index, std::vector<std::uint64_t>& addresses) {
  if (index == 0 || index >= stacks_.size()) {
    if (index != 0) {
      damaged(loss::kUnknownIndex);
    }
    return index == 0;
  }
  const Stack& stack = stacks_[static_cast<std::size_t>(index)];
  return append_range(stack_locations_, stack.begin, stack.size, addresses);
}

Result<bool> OtlpTables::append_range(std::span<const std::uint64_t> indices, std::uint64_t begin,
                                      std::uint64_t size, std::vector<std::uint64_t>& addresses) {
  if (begin > indices.size() || size > indices.size() - begin || size > kMostFrames) {
    damaged(size > kMostFrames ? loss::kSampleTooDeep : loss::kUnknownIndex);
    return false;
  }
  return append_locations(
      indices.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)), addresses);
}

// The first location is none, unless it says anything, as it may in releases before 1.8.
Result<bool> OtlpTables::append_locations(std::span<const std::uint64_t> indices,
                                          std::vector<std::uint64_t>& addresses) {
  for (const std::uint64_t id : indices) {
    if (id >= locations_.size() || (id == 0 && locations_[0].lines == 0 &&
                                    locations_[0].address == 0 && locations_[0].mapping == 0)) {
      damaged(loss::kUnknownIndex);
      continue;
    }
    Location& location = locations_[static_cast<std::size_t>(id)];
    if (!location.name) {
      const Result<std::uint64_t> made = address_of(location);
      if (!made) {
        return made.error();
      }
      location.name = *made;
    }
    addresses.push_back(*location.name);
  }
  return true;
}

}  // namespace stackpack::otlp
