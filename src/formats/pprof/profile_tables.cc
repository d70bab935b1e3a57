#include "formats/pprof/profile_tables.h"

#include <iterator>
#include <string_view>

#include "bytes/byte_text.h"
#include "formats/pprof/pprof_losses.h"
#include <protozero/exception.hpp>

namespace stackpack::pprof {

namespace {

// What an entry costs apart from its bytes, roughly: nodes of the maps, frames, modules.
constexpr std::uint64_t kEntryBytes = 128;

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_kernel(std::string_view path) {
  return path.starts_with("[kernel") || path.starts_with("[guest.kernel");
}

}  // namespace

ProfileTables::ProfileTables(capture::SystemRecorder& system, capture::LossCounters& losses,
                             std::uint64_t max_bytes)
    : system_(system), losses_(losses), names_(system), max_bytes_(max_bytes) {}

const std::string& ProfileTables::text(std::uint64_t number) {
  static const std::string none;
  if (number < strings_.size()) {
    return strings_[static_cast<std::size_t>(number)];
  }
  if (number != 0) {
    losses_.add(loss::kMissingString, LossKind::kDamage, 1);
  }
  return none;
}

Status ProfileTables::take(const Field& field, std::uint64_t offset) {
  if (!field.has_bytes) {
    time_ns_ = field.number == kTimeNanos ? static_cast<std::int64_t>(field.value) : time_ns_;
    duration_ns_ =
        field.number == kDurationNanos ? static_cast<std::int64_t>(field.value) : duration_ns_;
    return {};
  }
  if (field.number == kSample) {
    return {};
  }
  bytes_ += field.bytes.size() + kEntryBytes;
  if (bytes_ > max_bytes_) {
    return Error{ErrorCode::kLimit, offset, "pprof: the tables are larger than allowed"};
  }
  try {
    switch (field.number) {
      case kSampleType:
        read_value_type(field.bytes);
        break;
      case kMapping:
        read_mapping(field.bytes);
        break;
      case kLocation:
        read_location(field.bytes);
        break;
      case kFunction:
        read_function(field.bytes);
        break;
      case kString:
        strings_.emplace_back(bytes::text_of(field.bytes));
        break;
      default:
        break;
    }
  } catch (const protozero::exception&) {
    losses_.add(loss::kDamagedTableEntry, LossKind::kDamage, 1, offset);
  }
  return {};
}

void ProfileTables::read_value_type(std::span<const std::byte> content) {
  std::pair<std::uint64_t, std::uint64_t> numbers;
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kTypeText):
        numbers.first = message.get_uint64();
        break;
      case number(kTypeUnit):
        numbers.second = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  type_numbers_.push_back(numbers);
}

void ProfileTables::read_mapping(std::span<const std::byte> content) {
  Mapping mapping;
  std::uint64_t id = 0;
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kMappingId):
        id = message.get_uint64();
        break;
      case number(kMappingStart):
        mapping.start = message.get_uint64();
        break;
      case number(kMappingLimit):
        mapping.limit = message.get_uint64();
        break;
      case number(kMappingOffset):
        mapping.offset = message.get_uint64();
        break;
      case number(kMappingFile):
        mapping.file_name = message.get_uint64();
        break;
      case number(kMappingBuildId):
        mapping.build_id = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  mappings_.try_emplace(id, mapping);
}

void ProfileTables::read_location(std::span<const std::byte> content) {
  Location location;
  std::uint64_t id = 0;
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kLocationId):
        id = message.get_uint64();
        break;
      case number(kLocationMapping):
        location.mapping = message.get_uint64();
        break;
      case number(kLocationAddress):
        location.address = message.get_uint64();
        break;
      case bytes(kLocationLine):
        location.lines.push_back(protobuf::read_line(message.get_message()));
        break;
      default:
        message.skip();
    }
  }
  locations_.try_emplace(id, std::move(location));
}

void ProfileTables::read_function(std::span<const std::byte> content) {
  std::uint64_t id = 0;
  protobuf::FunctionEntry function;
  for (auto message = message_of(content); message.next();) {
    if (message.tag_and_type() == number(kFunctionId)) {
      id = message.get_uint64();
    } else {
      protobuf::take_function_field(message, kFunctionName, function);
    }
  }
  functions_.try_emplace(id, function);
}

// A mapping becomes a module which every process sees, unless it overlaps one that already did:
// profiles of several processes map many files at one address.
void ProfileTables::place(Mapping& mapping) {
  const std::string& path = text(mapping.file_name);
  if (mapping.limit <= mapping.start || path.empty()) {
    return;
  }
  const auto next = placed_.lower_bound(mapping.start);
  const bool overlaps_next = next != placed_.end() && next->first < mapping.limit;
  const bool overlaps_previous = next != placed_.begin() && std::prev(next)->second > mapping.start;
  if (overlaps_next || overlaps_previous) {
    losses_.add(loss::kOverlappingMappings, LossKind::kNotice, 1);
    return;
  }
  placed_.emplace(mapping.start, mapping.limit);
  mapping.placed = true;
  Module module;
  module.pid = kKernelPid;
  module.base = mapping.start;
  module.size = mapping.limit - mapping.start;
  module.file_offset = mapping.offset;
  module.path = path;
  mapping.build_id_bytes = protobuf::bytes_of_hex(text(mapping.build_id));
  module.build_id = mapping.build_id_bytes;
  module.build_id_kind = module.build_id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
  if (module.build_id.empty() && !text(mapping.build_id).empty()) {
    losses_.add(loss::kBuildIdNotHex, LossKind::kNotice, 1);
  }
  system_.module_mapped(module);
}

void ProfileTables::place_mappings() {
  for (auto& [id, mapping] : mappings_) {
    place(mapping);
  }
}

std::string ProfileTables::name_in(const Mapping& mapping, std::uint64_t address) {
  const std::string& path = text(mapping.file_name);
  if (path.empty()) {
    return protobuf::hex(address);
  }
  return std::string(file_name(path)) + "+" +
         protobuf::hex(address - mapping.start + mapping.offset);
}

Status ProfileTables::add_synthetic(const capture::FunctionFact& function) {
  const auto address = names_.address_of(function);
  if (!address) {
    return Error{ErrorCode::kLimit, kNoOffset, "pprof: too many names"};
  }
  frames_.push_back({FrameMode::kUnknown, *address});
  return {};
}

const protobuf::FunctionEntry& ProfileTables::function_of(const protobuf::LineEntry& line) {
  static const protobuf::FunctionEntry none;
  const auto known = functions_.find(line.function);
  if (known == functions_.end()) {
    losses_.add(loss::kUnknownFunction, LossKind::kDamage, 1);
    return none;
  }
  return known->second;
}

void ProfileTables::describe(const Location& location, capture::FunctionFact& fact) {
  fact.source = FunctionSource::kPprof;
  const protobuf::FunctionEntry& innermost = protobuf::describe_lines(
      location.lines, [this](std::uint64_t number) -> const std::string& { return text(number); },
      [this](const protobuf::LineEntry& line) -> const protobuf::FunctionEntry& {
        return function_of(line);
      },
      inlined_, fact);
  fact.code = {text(innermost.file), location.lines.front().line, inlined_};
}

// The frame of a location whose address means one thing only.
std::optional<Frame> ProfileTables::placed_frame(const Location& location) {
  const auto found = mappings_.find(location.mapping);
  if (found == mappings_.end() || !found->second.placed || location.address < found->second.start ||
      location.address >= found->second.limit) {
    return std::nullopt;
  }
  return Frame{is_kernel(text(found->second.file_name)) ? FrameMode::kKernel : FrameMode::kUnknown,
               location.address};
}

// That of a location without a mapping: code that was made at run time.
std::optional<Frame> ProfileTables::unmapped_frame(const Location& location) const {
  const auto next = placed_.upper_bound(location.address);
  const bool in_mapping = next != placed_.begin() && std::prev(next)->second > location.address;
  if (location.mapping != 0 || location.address == 0 || in_mapping ||
      capture::SyntheticFrames::in_range(location.address)) {
    return std::nullopt;
  }
  return Frame{FrameMode::kUnknown, location.address};
}

// A location with functions. Its address is kept unless another image, or another location, says
// something else of it.
Status ProfileTables::add_named(const Location& location) {
  capture::FunctionFact fact;
  describe(location, fact);
  const auto placed = placed_frame(location);
  const auto frame = placed ? placed : unmapped_frame(location);
  const Location* const first =
      frame ? named_.try_emplace(location.address, &location).first->second : nullptr;
  if (frame && first->mapping == location.mapping && first->lines == location.lines) {
    frames_.push_back(*frame);
    if (first != &location) {
      return {};
    }
    fact.owner = FunctionOwner::kKernel;
    fact.start = location.address;
    fact.size = 1;
    if (placed) {
      const Mapping& mapping = mappings_.find(location.mapping)->second;
      fact.owner = FunctionOwner::kImage;
      fact.image_path = text(mapping.file_name);
      fact.build_id = mapping.build_id_bytes;
      fact.start = location.address - mapping.start + mapping.offset;
    }
    system_.functions().add(fact);
    return {};
  }
  if (location.mapping != 0 && location.address != 0) {
    losses_.add(loss::kAddressesByName, LossKind::kNotice, 1);
  }
  return add_synthetic(fact);
}

Status ProfileTables::add_name(std::string_view name) {
  capture::FunctionFact function;
  function.source = FunctionSource::kPprof;
  function.name = name;
  return add_synthetic(function);
}

Status ProfileTables::make_frame(Location& location) {
  location.frame = frames_.size();
  if (!location.lines.empty()) {
    return add_named(location);
  }
  if (const auto frame = placed_frame(location)) {
    frames_.push_back(*frame);
    return {};
  }
  if (const auto found = mappings_.find(location.mapping); found != mappings_.end()) {
    return add_name(name_in(found->second, location.address));
  }
  if (location.mapping != 0) {
    losses_.add(loss::kUnknownMapping, LossKind::kDamage, 1);
  }
  if (capture::SyntheticFrames::in_range(location.address)) {
    return add_name(protobuf::hex(location.address));
  }
  frames_.push_back({FrameMode::kUnknown, location.address});
  return {};
}

Status ProfileTables::finish() {
  for (const auto& [type, unit] : type_numbers_) {
    sample_types_.push_back({text(type), text(unit)});
  }
  place_mappings();
  // By id, not in the order of the hash: addresses of names follow the order of first use.
  std::map<std::uint64_t, Location*> in_order;
  for (auto& [id, location] : locations_) {
    in_order.emplace(id, &location);
  }
  for (const auto& [id, location] : in_order) {
    if (const Status status = make_frame(*location); !status) {
      return status;
    }
  }
  return {};
}

std::optional<Frame> ProfileTables::frame_of(std::uint64_t location) const {
  const auto found = locations_.find(location);
  return found == locations_.end() ? std::nullopt : std::optional(frames_[found->second.frame]);
}

}  // namespace stackpack::pprof
