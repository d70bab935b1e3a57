#include "formats/pprof/profile_tables.h"

#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <string_view>

#include "bytes/byte_text.h"
#include "formats/pprof/message_view.h"
#include "formats/pprof/pprof_losses.h"
#include "formats/pprof/profile_fields.h"
#include <protozero/exception.hpp>

namespace stackpack::pprof {

namespace {

// What an entry costs apart from its bytes, roughly: nodes of the maps, frames, modules.
constexpr std::uint64_t kEntryBytes = 128;

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// Bytes of a build id written in hex; empty when it is written otherwise.
std::vector<std::uint8_t> build_id_of(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit_of(text[i]);
    const int low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) {
      return {};
    }
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return text.size() % 2 == 0 ? bytes : std::vector<std::uint8_t>();
}

// Not known when it is negative or absurd.
std::uint32_t line_number(std::int64_t line) {
  return line < 0 || line > std::int64_t{std::numeric_limits<std::uint32_t>::max()}
             ? 0
             : static_cast<std::uint32_t>(line);
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

ProfileTables::Line ProfileTables::line_of(protozero::pbf_reader message) {
  Line line;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case number(kLineFunction):
        line.function = message.get_uint64();
        break;
      case number(kLineNumber):
        line.line = line_number(message.get_int64());
        break;
      default:
        message.skip();
    }
  }
  return line;
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
        location.lines.push_back(line_of(message.get_message()));
        break;
      default:
        message.skip();
    }
  }
  locations_.try_emplace(id, std::move(location));
}

void ProfileTables::read_function(std::span<const std::byte> content) {
  std::uint64_t id = 0;
  Function function;
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kFunctionId):
        id = message.get_uint64();
        break;
      case number(kFunctionName):
        function.name = message.get_uint64();
        break;
      case number(kFunctionSystemName):
        function.system_name = message.get_uint64();
        break;
      case number(kFunctionFile):
        function.file = message.get_uint64();
        break;
      case number(kFunctionStartLine):
        function.start_line = line_number(message.get_int64());
        break;
      default:
        message.skip();
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
  mapping.build_id_bytes = build_id_of(text(mapping.build_id));
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
    return hex(address);
  }
  return std::string(file_name(path)) + "+" + hex(address - mapping.start + mapping.offset);
}

Status ProfileTables::add_synthetic(const capture::FunctionFact& function) {
  const auto address = names_.address_of(function);
  if (!address) {
    return Error{ErrorCode::kLimit, kNoOffset, "pprof: too many names"};
  }
  frames_.push_back({FrameMode::kUnknown, *address});
  return {};
}

const ProfileTables::Function& ProfileTables::function_of(const Line& line) {
  static const Function none;
  const auto known = functions_.find(line.function);
  if (known == functions_.end()) {
    losses_.add(loss::kUnknownFunction, LossKind::kDamage, 1);
    return none;
  }
  return known->second;
}

// What the lines of a location say: the last one is of the function that has the code, those before
// are of calls that were inlined there. The texts are those of the profile.
void ProfileTables::describe(const Location& location, capture::FunctionFact& fact) {
  const auto name_of = [this](const Function& function) -> std::string_view {
    const std::string& name = text(function.name);
    const std::string& system_name = text(function.system_name);
    if (name.empty() && system_name.empty()) {
      return "[unknown]";
    }
    return name.empty() ? system_name : name;
  };
  const auto linkage_of = [&](const Function& function) -> std::string_view {
    const std::string& linkage = text(function.system_name);
    return linkage == name_of(function) ? std::string_view() : std::string_view(linkage);
  };
  const Function& owner = function_of(location.lines.back());
  fact.source = FunctionSource::kPprof;
  fact.name = name_of(owner);
  fact.linkage = linkage_of(owner);
  fact.file = text(owner.file);
  fact.line = owner.start_line;
  inlined_.clear();
  const Function* caller = &owner;
  for (std::size_t i = location.lines.size() - 1; i-- > 0;) {
    const Function& callee = function_of(location.lines[i]);
    inlined_.push_back(
        {name_of(callee), linkage_of(callee), text(caller->file), location.lines[i + 1].line});
    caller = &callee;
  }
  fact.code = {text(caller->file), location.lines.front().line, inlined_};
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
    return add_name(hex(location.address));
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
