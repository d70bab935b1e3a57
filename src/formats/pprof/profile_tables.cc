#include "formats/pprof/profile_tables.h"

#include <iterator>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "formats/pprof/pprof_losses.h"
#include <protozero/exception.hpp>

namespace stackpack::pprof {

namespace {

// What an entry costs apart from its bytes, roughly: nodes of the maps, frames, modules.
constexpr std::uint64_t kEntryBytes = 128;
constexpr std::size_t kMostComments = 1024;

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
    take_number(field);
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
        type_numbers_.push_back(read_value_type(field.bytes));
        break;
      case kPeriodType:
        period_type_ = read_value_type(field.bytes);
        break;
      case kComment:
        read_comments(field.bytes);
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

void ProfileTables::take_number(const Field& field) {
  switch (field.number) {
    case kDropFrames:
      drop_frames_ = field.value;
      break;
    case kKeepFrames:
      keep_frames_ = field.value;
      break;
    case kTimeNanos:
      time_ns_ = static_cast<std::int64_t>(field.value);
      break;
    case kDurationNanos:
      duration_ns_ = static_cast<std::int64_t>(field.value);
      break;
    case kPeriod:
      period_ = static_cast<std::int64_t>(field.value);
      break;
    case kComment:
      add_comment(field.value);
      break;
    case kDefaultSampleType:
      default_type_text_ = field.value;
      break;
    case kDocUrl:
      doc_url_ = field.value;
      break;
    default:
      break;
  }
}

void ProfileTables::add_comment(std::uint64_t number) {
  if (comments_.size() < kMostComments) {
    comments_.push_back(number);
  } else {
    losses_.add(loss::kCommentsNotKept, LossKind::kNotice, 1);
  }
}

void ProfileTables::read_comments(std::span<const std::byte> packed) {
  bytes::ByteCursor in(packed, 0);
  while (in.ok() && in.remaining() != 0) {
    add_comment(in.read_varint());
  }
}

ProfileTables::TextNumbers ProfileTables::read_value_type(std::span<const std::byte> content) {
  TextNumbers numbers;
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
  return numbers;
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

// Profiles of several processes map many files at one address, and a module is one which every
// process sees: a mapping that overlaps an earlier one gets addresses that nobody else has. Nothing
// when there are none left.
std::optional<std::uint64_t> ProfileTables::base_of(const Mapping& mapping) {
  const auto next = placed_.lower_bound(mapping.start);
  const bool overlaps_next = next != placed_.end() && next->first < mapping.limit;
  const bool overlaps_previous = next != placed_.begin() && std::prev(next)->second > mapping.start;
  const bool reserved =
      mapping.limit > capture::SyntheticFrames::kFirstAddress && mapping.start < kEndOfMoved;
  if (!overlaps_next && !overlaps_previous && !reserved) {
    return mapping.start;
  }
  losses_.add(loss::kOverlappingMappings, LossKind::kNotice, 1);
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t size = mapping.limit - mapping.start;
  if (size > kEndOfMoved - kPage - next_base_) {
    return std::nullopt;
  }
  const std::uint64_t base = next_base_ + mapping.start % kPage;
  next_base_ = (base + size + kPage - 1) / kPage * kPage;
  return base;
}

// A mapping of a file becomes a module.
void ProfileTables::place(Mapping& mapping) {
  const std::string& path = text(mapping.file_name);
  mapping.build_id_bytes = protobuf::bytes_of_hex(text(mapping.build_id));
  if (mapping.limit <= mapping.start || path.empty()) {
    return;
  }
  const std::optional<std::uint64_t> base = base_of(mapping);
  if (!base) {
    return;
  }
  mapping.base = *base;
  mapping.placed = true;
  placed_.emplace(mapping.base, mapping.base + (mapping.limit - mapping.start));
  Module module;
  module.pid = kKernelPid;
  module.base = mapping.base;
  module.size = mapping.limit - mapping.start;
  module.file_offset = mapping.offset;
  module.path = path;
  module.build_id = mapping.build_id_bytes;
  module.build_id_kind = module.build_id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
  if (module.build_id.empty() && !text(mapping.build_id).empty()) {
    losses_.add(loss::kBuildIdNotHex, LossKind::kNotice, 1);
  }
  mapping.image =
      images_
          .try_emplace({path, mapping.build_id_bytes}, static_cast<std::uint32_t>(images_.size()))
          .first->second;
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

Status ProfileTables::add_synthetic(const capture::FunctionFact& function, std::uint64_t mapping) {
  const auto found = mappings_.find(mapping);
  const auto address = found == mappings_.end()
                           ? names_.address_of(function)
                           : names_.address_of(function, {text(found->second.file_name),
                                                          found->second.build_id_bytes});
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

// Neither a name nor a file: pprof shows the address.
bool ProfileTables::names_nothing(const protobuf::LineEntry& line) {
  if (line.function == 0) {
    return true;
  }
  const auto known = functions_.find(line.function);
  return known != functions_.end() && text(known->second.name).empty() &&
         text(known->second.system_name).empty() && text(known->second.file).empty();
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
               location.address - found->second.start + found->second.base};
}

bool ProfileTables::lies_in_mapping(std::uint64_t address) const {
  const auto next = placed_.upper_bound(address);
  return next != placed_.begin() && std::prev(next)->second > address;
}

// That of a location without a mapping: code that was made at run time.
std::optional<Frame> ProfileTables::unmapped_frame(const Location& location) const {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};  // no range of bytes ends behind it
  if (location.mapping != 0 || location.address == 0 || location.address == kLast ||
      lies_in_mapping(location.address) || capture::SyntheticFrames::in_range(location.address)) {
    return std::nullopt;
  }
  return Frame{FrameMode::kUnknown, location.address};
}

ProfileTables::NamedPlace ProfileTables::place_of(const Location& location, bool placed) const {
  if (!placed) {
    return {kNoImage, location.address};
  }
  const Mapping& mapping = mappings_.find(location.mapping)->second;
  return {mapping.image, location.address - mapping.start + mapping.offset};
}

// A location with functions. Its address is kept unless another image, or another location, says
// something else of it. A file that is mapped more than once has one function for each of its
// bytes: what a second mapping of code made at run time calls otherwise is kept by name.
Status ProfileTables::add_named(const Location& location) {
  capture::FunctionFact fact;
  describe(location, fact);
  const auto placed = placed_frame(location);
  const auto frame = placed ? placed : unmapped_frame(location);
  const NamedPlace place = place_of(location, placed.has_value());
  const Location* const first =
      frame ? named_.try_emplace(place, &location).first->second : nullptr;
  if (frame && first->lines == location.lines) {
    frames_.push_back(*frame);
    if (first != &location) {
      return {};
    }
    fact.owner = FunctionOwner::kKernel;
    fact.start = place.address;
    fact.size = 1;
    if (placed) {
      const Mapping& mapping = mappings_.find(location.mapping)->second;
      fact.owner = FunctionOwner::kImage;
      fact.image_path = text(mapping.file_name);
      fact.build_id = mapping.build_id_bytes;
    }
    system_.functions().add(fact);
    return {};
  }
  if (location.mapping != 0 && location.address != 0) {
    losses_.add(loss::kAddressesByName, LossKind::kNotice, 1);
  }
  return add_synthetic(fact, location.mapping);
}

Status ProfileTables::add_name(std::string_view name, std::uint64_t mapping) {
  capture::FunctionFact function;
  function.source = FunctionSource::kPprof;
  function.name = name;
  return add_synthetic(function, mapping);
}

// The functions that are dropped of a location, and those inlined there, before it gets its names.
void ProfileTables::prune(Location& location, FramePruner& pruner) {
  for (std::size_t i = location.lines.size(); i-- > 0;) {
    const auto function = functions_.find(location.lines[i].function);
    if (function == functions_.end() || !pruner.drops(text(function->second.name))) {
      continue;
    }
    if (i + 1 == location.lines.size()) {
      location.pruning = Pruning::kDrop;
    } else {
      location.pruning = Pruning::kDropCallees;
      location.lines.erase(location.lines.begin(),
                           location.lines.begin() + static_cast<std::ptrdiff_t>(i + 1));
    }
    return;
  }
}

Status ProfileTables::make_frame(Location& location) {
  location.frame = frames_.size();
  std::erase_if(location.lines,
                [this](const protobuf::LineEntry& line) { return names_nothing(line); });
  if (!location.lines.empty()) {
    return add_named(location);
  }
  if (const auto frame = placed_frame(location)) {
    frames_.push_back(*frame);
    return {};
  }
  if (const auto found = mappings_.find(location.mapping); found != mappings_.end()) {
    return add_name(name_in(found->second, location.address), location.mapping);
  }
  if (location.mapping != 0) {
    losses_.add(loss::kUnknownMapping, LossKind::kDamage, 1);
  }
  if (lies_in_mapping(location.address) || named_without_mapping_.contains(location.address)) {
    losses_.add(loss::kAddressesByName, LossKind::kNotice, 1);
    return add_name(protobuf::hex(location.address));
  }
  if (capture::SyntheticFrames::in_range(location.address)) {
    return add_name(protobuf::hex(location.address));
  }
  frames_.push_back({FrameMode::kUnknown, location.address});
  return {};
}

// Which type is shown first, and what the profile says of itself.
void ProfileTables::state_facts() {
  default_type_ = sample_types_.empty() ? 0 : sample_types_.size() - 1;
  for (std::size_t i = sample_types_.size(); i-- > 0 && default_type_text_ != 0;) {
    default_type_ = sample_types_[i].type == text(default_type_text_) ? i : default_type_;
  }
  const auto state = [this](std::string_view key, const std::string& value) {
    if (!value.empty()) {
      system_.metadata(key, value);
    }
  };
  state("pprof.period", period_ > 0 ? std::to_string(period_) : std::string());
  state("pprof.period_type", text(period_type_.first));
  state("pprof.period_unit", text(period_type_.second));
  state("pprof.doc_url", text(doc_url_));
  std::size_t number = 0;
  for (const std::uint64_t comment : comments_) {
    if (!text(comment).empty()) {
      state("pprof.comment." + std::to_string(number++), text(comment));
    }
  }
}

Status ProfileTables::finish() {
  for (const auto& [type, unit] : type_numbers_) {
    sample_types_.push_back({text(type), text(unit)});
  }
  state_facts();
  place_mappings();
  // By id, not in the order of the hash: addresses of names follow the order of first use.
  std::map<std::uint64_t, Location*> in_order;
  for (auto& [id, location] : locations_) {
    in_order.emplace(id, &location);
    const bool is_named = !std::all_of(location.lines.begin(), location.lines.end(),
                                       [this](const auto& line) { return names_nothing(line); });
    if (is_named && unmapped_frame(location)) {
      named_without_mapping_.insert(location.address);
    }
  }
  FramePruner pruner(text(drop_frames_), text(keep_frames_));
  if (!pruner.good()) {
    losses_.add(loss::kFramesNotDropped, LossKind::kNotice, 1);
  }
  for (const auto& [id, location] : in_order) {
    prune(*location, pruner);
    if (const Status status = make_frame(*location); !status) {
      return status;
    }
  }
  return {};
}

std::optional<PrunedFrame> ProfileTables::frame_of(std::uint64_t location) const {
  const auto found = locations_.find(location);
  return found == locations_.end()
             ? std::nullopt
             : std::optional(PrunedFrame{frames_[found->second.frame], found->second.pruning});
}

}  // namespace stackpack::pprof
