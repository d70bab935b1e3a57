#include "formats/pprof/profile_tables.h"

#include <array>
#include <charconv>
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
      case bytes(kLocationLine): {
        std::uint64_t function = 0;
        for (auto line = message.get_message(); line.next();) {
          if (line.tag_and_type() == number(kLineFunction)) {
            function = line.get_uint64();
          } else {
            line.skip();
          }
        }
        location.functions.push_back(function);
        break;
      }
      default:
        message.skip();
    }
  }
  locations_.try_emplace(id, std::move(location));
}

void ProfileTables::read_function(std::span<const std::byte> content) {
  std::uint64_t id = 0;
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case number(kFunctionId):
        id = message.get_uint64();
        break;
      case number(kFunctionName):
        name = message.get_uint64();
        break;
      case number(kFunctionSystemName):
        system_name = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  function_name_.try_emplace(id, name != 0 ? name : system_name);
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
  module.build_id = build_id_of(text(mapping.build_id));
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

Status ProfileTables::add_name(std::string_view name) {
  const auto address = names_.address_of(name);
  if (!address) {
    return Error{ErrorCode::kLimit, kNoOffset, "pprof: too many names"};
  }
  frames_.push_back({FrameMode::kUnknown, *address});
  return {};
}

Status ProfileTables::make_frames(Location& location) {
  location.first_frame = frames_.size();
  Status status;
  if (!location.functions.empty()) {
    for (const std::uint64_t function : location.functions) {
      const auto name = function_name_.find(function);
      if (name == function_name_.end()) {
        losses_.add(loss::kUnknownFunction, LossKind::kDamage, 1);
      }
      const std::string& known = name == function_name_.end() ? text(0) : text(name->second);
      status = status ? add_name(known.empty() ? "[unknown]" : known) : status;
    }
    if (location.mapping != 0 && location.address != 0) {
      losses_.add(loss::kAddressesToldByName, LossKind::kNotice, 1);
    }
  } else if (const auto found = mappings_.find(location.mapping); found != mappings_.end()) {
    const Mapping& mapping = found->second;
    const bool inside = location.address >= mapping.start && location.address < mapping.limit;
    if (mapping.placed && inside) {
      frames_.push_back(
          {is_kernel(text(mapping.file_name)) ? FrameMode::kKernel : FrameMode::kUnknown,
           location.address});
    } else {
      status = add_name(name_in(mapping, location.address));
    }
  } else {
    if (location.mapping != 0) {
      losses_.add(loss::kUnknownMapping, LossKind::kDamage, 1);
    }
    if (capture::SyntheticFrames::in_range(location.address)) {
      status = add_name(hex(location.address));
    } else {
      frames_.push_back({FrameMode::kUnknown, location.address});
    }
  }
  location.frame_count = frames_.size() - location.first_frame;
  return status;
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
    if (const Status status = make_frames(*location); !status) {
      return status;
    }
  }
  return {};
}

std::span<const Frame> ProfileTables::frames_of(std::uint64_t location) const {
  const auto found = locations_.find(location);
  if (found == locations_.end()) {
    return {};
  }
  return std::span(frames_).subspan(found->second.first_frame, found->second.frame_count);
}

}  // namespace stackpack::pprof
