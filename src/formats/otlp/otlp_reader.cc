#include "formats/otlp/otlp_reader.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "bytes/byte_text.h"
#include "capture/field_recorder.h"
#include "capture/first_date.h"
#include "core/weight_scale.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/otlp_losses.h"
#include <protozero/exception.hpp>

namespace stackpack::otlp {

namespace {

constexpr std::uint64_t kProfileIdBytes = 16;
constexpr std::size_t kMostColumns = 64;  // types of a Profile, each of which is a pass over it

bool is_count(std::string_view unit) {
  return unit == "count" || unit == "1" || unit.empty();
}

OtlpTables::Key key_of_resource(const FieldValue& field) {
  return field.name.starts_with(kResourcePrefix)
             ? OtlpTables::key_of(std::string_view(field.name).substr(kResourcePrefix.size()),
                                  field.value)
             : OtlpTables::Key::kOther;
}

bool is_process_id(const FieldValue& field) {
  return key_of_resource(field) == OtlpTables::Key::kPid;
}
bool is_process_name(const FieldValue& field) {
  return key_of_resource(field) == OtlpTables::Key::kProcessName;
}

}  // namespace

Status OtlpReader::read(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                        Numbers numbers) {
  begin_ = begin;
  source_ = &source;
  Result<ProfileSurvey> survey = survey_profiles(source, begin, end, options_.control);
  if (!survey) {
    return survey.error();
  }
  layout_ = numbers == Numbers::kOurs ? MessageLayout() : survey->layout;
  tables_.clear();
  MessageWalk first(source, begin, end);
  const Status tables = each_of(first, end, [&](const Field& field) {
    return field.number == kDictionary && field.has_bytes ? read_dictionary(first, field)
                                                          : first.skip(field);
  });
  damaged_ = !tables && is_damage(tables.error());
  if (damaged_) {
    sink_.losses().add(name_of(skip::kDamagedStream), LossKind::kDamage, 1, first.offset());
    end = std::min(end, first.offset());
  } else if (!tables) {
    return tables;
  }
  parsed_ += end - begin;
  if (tables_.empty()) {
    sink_.losses().add(loss::kNoDictionary, LossKind::kDamage, 1, begin);
    return {};
  }
  any_dictionary_ = true;
  tables_.finish();
  for (const auto& [type, unit] : survey->types) {
    units_of_type_[tables_.text(type)].insert(tables_.text(unit));
  }
  MessageWalk second(source, begin, end);
  const Status samples = each_of(second, end, [&](const Field& field) {
    return field.number == kResourceProfiles && field.has_bytes ? read_resource(second, field)
                                                                : second.skip(field);
  });
  // It ends where the first pass ended, or within a field whose end was there.
  if (!samples && is_damage(samples.error()) && !damaged_) {
    sink_.losses().add(name_of(skip::kDamagedStream), LossKind::kDamage, 1, second.offset());
  }
  return samples || is_damage(samples.error()) ? Status{} : samples;
}

Status OtlpReader::finish() {
  if (!any_dictionary_) {
    return Error{ErrorCode::kCorrupt, 0, "otlp: no message has a dictionary"};
  }
  names_.tell(sink_.system());
  constants_.tell(sink_.system());
  capture::SystemRecorder& system = sink_.system();
  if (any_aggregate_ && !any_time_) {
    system.metadata("samples.aggregated", "1");
  }
  if (!default_event_.empty()) {
    system.metadata("pprof.default_event", default_event_);
  }
  if (any_date_) {
    system.metadata("clock.wall_offset_ns", "0");
  }
  return {};
}

Status OtlpReader::read_dictionary(MessageWalk& walk, const Field& outer) {
  return each_of(walk, outer.end(), [&](const Field& field) -> Status {
    if (!field.has_bytes) {
      return {};
    }
    const std::uint32_t table = layout_.of_dictionary(field.number);
    const auto content = walk.load(field, options_.max_sample_bytes);
    if (!content && content.error().code == ErrorCode::kLimit) {
      tables_.take_nothing(table, field.begin);
      return {};
    }
    return content ? tables_.take(table, *content, field.begin) : content.error();
  });
}

Status OtlpReader::read_resource(MessageWalk& walk, const Field& outer) {
  Result<std::vector<FieldValue>> fields =
      differing_fields(outer, ConstantFields::Owner::kResource);
  if (!fields) {
    return fields.error();
  }
  take_columns(*fields);
  labels_.set_resource(std::move(*fields));
  return each_of(walk, outer.end(), [&](const Field& field) -> Status {
    return field.number == kScopeProfiles && field.has_bytes ? read_scope(walk, field)
                                                             : walk.skip(field);
  });
}

Status OtlpReader::read_scope(MessageWalk& walk, const Field& outer) {
  Result<std::vector<FieldValue>> fields = differing_fields(outer, ConstantFields::Owner::kScope);
  if (!fields) {
    return fields.error();
  }
  labels_.set_scope(std::move(*fields));
  return each_of(walk, outer.end(), [&](const Field& inner) {
    return inner.number == kProfile && inner.has_bytes ? read_profile(walk, inner)
                                                       : walk.skip(inner);
  });
}

// Fields that are not the same in the whole file.
Result<std::vector<FieldValue>> OtlpReader::differing_fields(const Field& outer,
                                                             ConstantFields::Owner owner) {
  bool damaged = false;
  Result<OwnerFields> found =
      owner_fields(*source_, outer.begin, outer.end(), owner, options_.control, &tables_, damaged);
  if (!found) {
    return found.error();
  }
  if (damaged) {
    damaged_entry(outer.begin);
  }
  if (found->not_kept != 0) {
    sink_.losses().add(loss::kFieldsNotKept, LossKind::kNotice, found->not_kept);
  }
  std::erase_if(found->fields,
                [this](const FieldValue& field) { return constants_.is_constant(field); });
  return std::move(found->fields);
}

// A process that a resource is about is that of all its samples.
void OtlpReader::take_columns(std::vector<FieldValue>& fields) {
  owner_ = {};
  for (const FieldValue& field : fields) {
    if (is_process_id(field)) {
      owner_.pid = static_cast<std::uint32_t>(field.value.number);
    }
  }
  if (owner_.pid == kUnknownId) {
    return;
  }
  for (const FieldValue& field : fields) {
    if (is_process_name(field)) {
      owner_.process_name = field.value.text;
    }
  }
  std::erase_if(fields, [](const FieldValue& field) {
    return is_process_id(field) || is_process_name(field);
  });
}

// Twice: what it says of its samples may come after them. Of several types, each in turn.
Status OtlpReader::read_profile(MessageWalk& walk, const Field& outer) {
  Profile profile;
  labels_.begin_profile();
  MessageWalk ahead(*source_, outer.begin, outer.end());
  const Status facts = each_of(ahead, outer.end(), [&](Field field) {
    field.number = layout_.of_profile(field.number);
    return take_fact(ahead, field, profile);
  });
  if (!facts && !is_damage(facts.error())) {
    return facts;
  }
  labels_.settle();
  for (; profile.column + 1 < profile.sample_types.size(); ++profile.column) {
    MessageWalk again(*source_, outer.begin, outer.end());
    name_event(profile);
    const Status read = read_samples(again, outer, profile);
    if (!read && !is_damage(read.error())) {
      return read;
    }
  }
  name_event(profile);
  return read_samples(walk, outer, profile);
}

Status OtlpReader::read_samples(MessageWalk& walk, const Field& outer, const Profile& profile) {
  return each_of(walk, outer.end(), [&](const Field& field) -> Status {
    if (field.number != kSample || !field.has_bytes) {
      return walk.skip(field);
    }
    const auto content = walk.load(field, options_.max_sample_bytes);
    if (!content && content.error().code == ErrorCode::kLimit) {
      sink_.losses().add(loss::kSampleTooLarge, LossKind::kDamage, 1, field.begin);
      return {};
    }
    options_.control.advance_to(walk.offset());
    return content ? take_sample(*content, profile, field.begin) : content.error();
  });
}

Status OtlpReader::take_fact(MessageWalk& walk, const Field& field, Profile& profile) {
  if (field.has_bytes) {
    return take_message_fact(walk, field, profile);
  }
  profile.time_ns = field.number == kTimeUnixNano ? field.value : profile.time_ns;
  profile.period = field.number == kPeriod ? field.value : profile.period;
  profile.default_type = field.number == kDefaultType ? field.value : profile.default_type;
  if (field.number == kProfileAttribute) {
    take_profile_attribute(field.value, profile);
  } else if (field.number == kLocationIndices) {
    profile.locations.push_back(field.value);
  } else if (field.number > kPeriod && field.number != kDefaultType && field.value != 0) {
    sink_.losses().add(loss::kFieldsNotKept, LossKind::kNotice, 1);
  }
  return {};
}

Status OtlpReader::take_message_fact(MessageWalk& walk, const Field& field, Profile& profile) {
  const bool is_id = field.number == kProfileId && field.value == kProfileIdBytes;
  const bool is_sample = field.number == kSample;
  const bool is_indices = field.number == kLocationIndices;
  const bool is_known = field.number == kSampleType || field.number == kPeriodType ||
                        field.number == kProfileAttribute || is_indices || is_id || is_sample;
  if (!is_known || (is_sample && profile.any_values)) {
    if (!is_known && field.value != 0) {  // the payload that it was made of
      sink_.losses().add(loss::kFieldsNotKept, LossKind::kNotice, 1);
    }
    return walk.skip(field);
  }
  const auto content =
      walk.load(field, is_sample || is_indices ? options_.max_sample_bytes : kMostSmallBytes);
  if (!content) {
    return content.error().code == ErrorCode::kLimit ? Status{} : content.error();
  }
  take_content(field, *content, profile);
  return {};
}

void OtlpReader::take_content(const Field& field, std::span<const std::byte> content,
                              Profile& profile) {
  std::vector<std::uint64_t> attributes;
  switch (field.number) {
    case kProfileAttribute:
      take_numbers(content, attributes);
      for (const std::uint64_t id : attributes) {
        take_profile_attribute(id, profile);
      }
      break;
    case kLocationIndices:
      if (content.size() >
          options_.max_table_bytes / sizeof(std::uint64_t) - profile.locations.size()) {
        damaged_entry(field.begin);
      } else {
        take_numbers(content, profile.locations);
      }
      break;
    case kProfileId:
      labels_.see_profile_id(hex_of(bytes::text_of(content)));
      break;
    case kSample:
      look_for_values(content, profile);
      break;
    case kSampleType:
      if (profile.sample_types.size() < kMostColumns) {
        take_type(content, field.begin, profile.sample_types.emplace_back());
      } else {
        damaged_entry(field.begin);
      }
      break;
    default:
      take_type(content, field.begin, profile.period_type);
  }
}

// Damage is counted where samples are read.
void OtlpReader::look_for_values(std::span<const std::byte> content, Profile& profile) {
  try {
    for (auto message = message_of(content); message.next(); message.skip()) {
      profile.any_values |= layout_.of_sample(message.tag()) == kSampleValue;
    }
  } catch (const protozero::exception&) {
    return;
  }
}

void OtlpReader::take_type(std::span<const std::byte> content, std::uint64_t offset,
                           ValueType& type) {
  try {
    for (auto message = message_of(content); message.next();) {
      if (message.tag_and_type() == number(kTypeText)) {
        type.type = message.get_uint64();
      } else if (message.tag_and_type() == number(kTypeUnit)) {
        type.unit = message.get_uint64();
      } else {
        message.skip();
      }
    }
  } catch (const protozero::exception&) {
    damaged_entry(offset);
  }
}

void OtlpReader::damaged_entry(std::uint64_t offset) {
  sink_.losses().add(loss::kDamagedTableEntry, LossKind::kDamage, 1, offset);
}

void OtlpReader::take_numbers(std::span<const std::byte> packed,
                              std::vector<std::uint64_t>& numbers) {
  const std::string_view text = bytes::text_of(packed);
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  try {
    while (at != end) {
      numbers.push_back(protozero::decode_varint(&at, end));
    }
  } catch (const protozero::exception&) {
    sink_.losses().add(loss::kDamagedTableEntry, LossKind::kDamage, 1, begin_);
  }
}

void OtlpReader::take_profile_attribute(std::uint64_t index, Profile& profile) {
  const OtlpTables::Attribute* const given = tables_.attribute(index);
  if (given != nullptr && given->key == OtlpTables::Key::kEvent) {
    profile.event = given->value.text;
  }
  labels_.see_own(index);
}

// Types of one name and several units are several events: the one of most interest, which does not
// merely count, has the name, and the others the unit behind it.
std::string OtlpReader::name_of_type(const Profile& profile, const std::string& type,
                                     const std::string& unit) {
  const std::set<std::string>& units = units_of_type_[type];
  if (units.size() > 1) {
    const auto main = std::find_if(units.begin(), units.end(), [](const std::string& candidate) {
      return !is_count(core::parse_unit(candidate).unit);
    });
    if (unit != *(main == units.end() ? units.begin() : main)) {
      return type + "/" + unit;
    }
    default_event_ = default_event_.empty() ? type : default_event_;
  }
  const std::size_t last = profile.sample_types.size() - 1;
  const std::size_t shown = profile.default_type == 0 ? last : profile.default_type;
  if (profile.has_columns() && profile.column == shown && default_event_.empty()) {
    default_event_ = type;
  }
  return type;
}

void OtlpReader::name_event(Profile& profile) {
  if (profile.sample_types.empty()) {
    profile.sample_types.emplace_back();
  }
  const ValueType& own = profile.sample_types[profile.column];
  const std::string& unit = tables_.text(own.unit);
  const std::string& period_type = tables_.text(profile.period_type.type);
  const std::string& period_unit = tables_.text(profile.period_type.unit);
  const auto [own_unit, decimals] = core::parse_unit(unit);
  const bool counts = is_count(own_unit);
  const bool of_time = period_unit == "nanoseconds" || period_unit == "ns";
  bool weighs = profile.any_values;
  std::string kept_unit = !counts         ? unit
                          : decimals != 0 ? core::scaled_unit("count", decimals)
                                          : std::string();
  std::string name = name_of_type(profile, tables_.text(own.type), unit);
  profile.scale = 1;
  if (counts && of_time && profile.period != 0 && !profile.has_columns()) {
    profile.scale = profile.period;
    weighs = true;
    name = period_type;
    kept_unit = period_unit;
  }
  name = !profile.event.empty() ? profile.event : name.empty() ? "[unnamed]" : name;
  const auto [known, fresh] = events_.try_emplace({name, weighs}, 0);
  if (fresh) {
    known->second = sink_.add_event({name, weighs});
    if (!kept_unit.empty()) {
      sink_.system().metadata("pprof.unit." + name, kept_unit);
    }
  }
  event_ = known->second;
}

void OtlpReader::take_sample_field(protozero::pbf_reader& message, StackPlace& stack) {
  const auto append_to = [](std::vector<std::uint64_t>& numbers) {
    return [&numbers](std::uint64_t number) { numbers.push_back(number); };
  };
  switch (layout_.of_sample_tag(message.tag_and_type())) {
    case number(kSampleStack):
      stack.number = message.get_uint64();
      break;
    case number(kSampleStart):
      stack.begin = message.get_uint64();
      break;
    case number(kSampleLength):
      stack.size = message.get_uint64();
      break;
    case number(kSampleLink):
      link_ = message.get_uint64();
      break;
    case number(kSampleAttribute):
    case bytes(kSampleAttribute):
      each_number(message, append_to(attributes_));
      break;
    case number(kSampleValue):
    case bytes(kSampleValue):
      each_number(message, append_to(values_));
      break;
    case fixed(kSampleTime):
      times_.push_back(message.get_fixed64());
      break;
    case bytes(kSampleTime):
      if (layout_.has_ranges()) {
        each_number(message, append_to(times_));
        break;
      }
      for (const std::uint64_t time : message.get_packed_fixed64()) {
        times_.push_back(time);
      }
      break;
    default:
      message.skip();
  }
}

Status OtlpReader::take_sample(std::span<const std::byte> content, const Profile& profile,
                               std::uint64_t offset) {
  StackPlace stack;
  link_ = 0;
  attributes_.clear();
  values_.clear();
  times_.clear();
  try {
    for (auto message = message_of(content); message.next();) {
      take_sample_field(message, stack);
    }
  } catch (const protozero::exception&) {
    sink_.losses().add(loss::kDamagedSample, LossKind::kDamage, 1, offset);
    return {};
  }
  settle_values(profile);
  return add(stack, profile, offset);
}

// Of several types, a sample has one value of each, over all its times. Before 1.8 one value with
// several times was that of each of them.
void OtlpReader::settle_values(const Profile& profile) {
  if (profile.has_columns()) {
    values_ = {profile.column < values_.size() ? values_[profile.column] : 0};
    times_.resize(std::min<std::size_t>(times_.size(), 1));
  } else if (!profile.locations.empty() && values_.size() == 1 && times_.size() > 1) {
    values_.resize(times_.size(), values_.front());
  }
}

Status OtlpReader::add(const StackPlace& stack, const Profile& profile, std::uint64_t offset) {
  if (!times_.empty() && !values_.empty() && times_.size() != values_.size()) {
    sink_.losses().add(loss::kValuesAndTimesDiffer, LossKind::kDamage, 1, offset);
    return {};
  }
  addresses_.clear();
  const Result<bool> framed =
      stack.size != 0 || stack.begin != 0
          ? tables_.append_range(profile.locations, stack.begin, stack.size, addresses_)
          : tables_.append_stack(stack.number, addresses_);
  if (!framed || !*framed) {
    return framed ? Status{} : Status(framed.error());
  }
  Sample sample;
  sample.event = event_;
  sample.origin = addresses_.empty() ? StackOrigin::kNone : StackOrigin::kRecorded;
  timed_ = !times_.empty();
  any_time_ |= timed_;
  any_aggregate_ |= times_.empty();
  if (times_.empty()) {
    times_.push_back(profile.time_ns);
  }
  apply_attributes(sample);
  for (std::size_t i = 0; i < std::max(times_.size(), values_.size()); ++i) {
    sample.time_ns = times_[std::min(i, times_.size() - 1)];
    if (const Status status = add_one(sample, i, profile.scale, offset); !status) {
      return status;
    }
  }
  return {};
}

Status OtlpReader::add_one(Sample& sample, std::size_t i, std::uint64_t scale,
                           std::uint64_t offset) {
  const std::uint64_t value = values_.empty() ? 1 : values_[i];
  if (static_cast<std::int64_t>(value) < 0) {
    sink_.losses().add(loss::kNegativeValue, LossKind::kDamage, 1, offset);
    return {};
  }
  if (value == 0 && !timed_) {  // of others it says when it was
    sink_.losses().add(loss::kSampleOfZeros, LossKind::kNotice, 1);
    return {};
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  sample.weight = value > kMost / scale ? kMost : value * scale;
  any_date_ |= sample.time_ns >= capture::kFirstDateNs;
  if (row_) {
    sink_.sample_fields()->add(sample.time_ns, 0, *row_);
  }
  const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
  return sink_.add_sample(sample, {addresses_, std::span(&run, addresses_.empty() ? 0 : 1)});
}

void OtlpReader::apply_attributes(Sample& sample) {
  using Key = OtlpTables::Key;
  std::string_view thread_name;
  std::string_view process_name = owner_.process_name;
  sample.pid = owner_.pid;
  labels_.begin_sample();
  labels_.link(link_);
  for (const std::uint64_t id : attributes_) {
    const OtlpTables::Attribute* const given = tables_.attribute(id);
    if (given == nullptr) {
      continue;
    }
    const auto number = static_cast<std::uint32_t>(given->value.number);
    sample.pid = given->key == Key::kPid ? number : sample.pid;
    sample.tid = given->key == Key::kTid ? number : sample.tid;
    sample.cpu = given->key == Key::kProcessor ? number : sample.cpu;
    thread_name = given->key == Key::kThreadName ? given->value.text : thread_name;
    process_name = given->key == Key::kProcessName ? given->value.text : process_name;
    labels_.attribute(id);
  }
  sample.flags = sample.pid == 0 && sample.tid == 0 ? kSampleIdle : 0;
  row_ = labels_.row();
  if (row_) {
    sample.flags |= capture::kSampleHasFields;
  }
  name_thread(sample, process_name, thread_name);
}

// A name belongs to a process or thread with a number.
void OtlpReader::name_thread(const Sample& sample, std::string_view process,
                             std::string_view thread) {
  const std::uint64_t first = *std::min_element(times_.begin(), times_.end());
  const bool names_process = !process.empty() && sample.pid != kUnknownId;
  const bool names_thread = !thread.empty() && sample.tid != kUnknownId;
  if (names_process) {
    names_.process(sample.pid, first, process);
  }
  if (names_thread) {
    names_.thread(sample.pid, sample.tid, first, thread);
  }
  if ((!process.empty() && !names_process) || (!thread.empty() && !names_thread)) {
    sink_.losses().add(loss::kAttributesNotKept, LossKind::kNotice, 1);
  }
}

}  // namespace stackpack::otlp
