#include "formats/otlp/otlp_reader.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "bytes/byte_text.h"
#include "core/weight_scale.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/otlp_losses.h"
#include <protozero/exception.hpp>

namespace stackpack::otlp {

namespace {

constexpr std::uint64_t kProfileIdBytes = 16;

// Times since then are dates, and not those of a clock that began with the machine.
constexpr std::uint64_t kFirstDateNs = 100'000'000'000'000'000;

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

Status OtlpReader::read(io::ByteSource& source, std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  source_ = &source;
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
    const auto content = walk.load(field, options_.max_sample_bytes);
    if (!content && content.error().code == ErrorCode::kLimit) {
      tables_.take_nothing(field.number, field.begin);
      return {};
    }
    return content ? tables_.take(field.number, *content, field.begin) : content.error();
  });
}

Status OtlpReader::read_resource(MessageWalk& walk, const Field& outer) {
  Result<std::vector<FieldValue>> fields =
      differing_fields(outer, ConstantFields::Owner::kResource);
  if (!fields) {
    return fields.error();
  }
  take_columns(*fields);
  fields_.set_resource(std::move(*fields));
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
  fields_.set_scope(std::move(*fields));
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

// Twice: what it says of its samples may come after them.
Status OtlpReader::read_profile(MessageWalk& walk, const Field& outer) {
  Profile profile;
  fields_.begin();
  MessageWalk ahead(*source_, outer.begin, outer.end());
  const Status facts = each_of(
      ahead, outer.end(), [&](const Field& field) { return take_fact(ahead, field, profile); });
  if (!facts && !is_damage(facts.error())) {
    return facts;
  }
  name_event(profile);
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
  if (field.number == kProfileAttribute) {
    take_profile_attribute(field.value, profile);
  } else if (field.number > kPeriod && field.value != 0) {
    sink_.losses().add(loss::kFieldsNotKept, LossKind::kNotice, 1);
  }
  return {};
}

Status OtlpReader::take_message_fact(MessageWalk& walk, const Field& field, Profile& profile) {
  const bool is_type = field.number == kSampleType || field.number == kPeriodType;
  const bool looks_at_samples = field.number == kSample && (!profile.any_values || fields_.keeps());
  const bool is_id =
      field.number == kProfileId && fields_.keeps() && field.value == kProfileIdBytes;
  if (!is_type && !looks_at_samples && !is_id && field.number != kProfileAttribute) {
    if (field.number != kSample && field.value != 0) {  // the payload that it was made of
      sink_.losses().add(loss::kFieldsNotKept, LossKind::kNotice, 1);
    }
    return walk.skip(field);
  }
  const auto content =
      walk.load(field, looks_at_samples ? options_.max_sample_bytes : kMostSmallBytes);
  if (!content) {
    return content.error().code == ErrorCode::kLimit ? Status{} : content.error();
  }
  if (field.number == kProfileAttribute) {
    take_profile_attributes(*content, profile);
    return {};
  }
  if (is_id) {
    fields_.see_profile_id(hex_of(bytes::text_of(*content)));
  } else if (looks_at_samples) {
    look_for_values(*content, field.begin, profile);
  } else {
    take_type(*content, field.begin,
              field.number == kSampleType ? profile.sample_type : profile.period_type);
  }
  return {};
}

void OtlpReader::look_for_values(std::span<const std::byte> content, std::uint64_t offset,
                                 Profile& profile) {
  try {
    for (auto message = message_of(content); message.next();) {
      profile.any_values |= message.tag() == kSampleValue;
      switch (message.tag_and_type()) {
        case number(kSampleAttribute):
        case bytes(kSampleAttribute):
          each_number(message, [this](std::uint64_t id) { fields_.see_attribute(id); });
          break;
        case number(kSampleLink):
          fields_.see_link(message.get_uint64());
          break;
        default:
          message.skip();
      }
    }
  } catch (const protozero::exception&) {
    damaged_entry(offset);
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

void OtlpReader::take_profile_attributes(std::span<const std::byte> packed, Profile& profile) {
  const std::string_view text = bytes::text_of(packed);
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  try {
    while (at != end) {
      take_profile_attribute(protozero::decode_varint(&at, end), profile);
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
  fields_.see_own(index);
}

void OtlpReader::name_event(Profile& profile) {
  const std::string& type = tables_.text(profile.sample_type.type);
  const std::string& unit = tables_.text(profile.sample_type.unit);
  const std::string& period_type = tables_.text(profile.period_type.type);
  const std::string& period_unit = tables_.text(profile.period_type.unit);
  const auto [own_unit, decimals] = core::parse_unit(unit);
  const bool counts = own_unit == "count" || own_unit == "1" || own_unit.empty();
  const bool of_time = period_unit == "nanoseconds" || period_unit == "ns";
  bool weighs = profile.any_values;
  std::string kept_unit = !counts         ? unit
                          : decimals != 0 ? core::scaled_unit("count", decimals)
                                          : std::string();
  std::string name = type;
  if (counts && of_time && profile.period != 0) {
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
  fields_.settle(event_, name);
}

Status OtlpReader::take_sample(std::span<const std::byte> content, const Profile& profile,
                               std::uint64_t offset) {
  std::uint64_t stack = 0;
  link_ = 0;
  attributes_.clear();
  values_.clear();
  times_.clear();
  try {
    for (auto message = message_of(content); message.next();) {
      switch (message.tag_and_type()) {
        case number(kSampleStack):
          stack = message.get_uint64();
          break;
        case number(kSampleLink):
          link_ = message.get_uint64();
          break;
        case number(kSampleAttribute):
        case bytes(kSampleAttribute):
          each_number(message, [&](std::uint64_t id) { attributes_.push_back(id); });
          break;
        case number(kSampleValue):
        case bytes(kSampleValue):
          each_number(message, [&](std::uint64_t value) { values_.push_back(value); });
          break;
        case fixed(kSampleTime):
          times_.push_back(message.get_fixed64());
          break;
        case bytes(kSampleTime):
          for (const std::uint64_t time : message.get_packed_fixed64()) {
            times_.push_back(time);
          }
          break;
        default:
          message.skip();
      }
    }
  } catch (const protozero::exception&) {
    sink_.losses().add(loss::kDamagedSample, LossKind::kDamage, 1, offset);
    return {};
  }
  return add(stack, profile, offset);
}

Status OtlpReader::add(std::uint64_t stack, const Profile& profile, std::uint64_t offset) {
  if (!times_.empty() && !values_.empty() && times_.size() != values_.size()) {
    sink_.losses().add(loss::kValuesAndTimesDiffer, LossKind::kDamage, 1, offset);
    return {};
  }
  addresses_.clear();
  const Result<bool> framed = tables_.append_stack(stack, addresses_);
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
  any_date_ |= sample.time_ns >= kFirstDateNs;
  fields_.add(sample);
  const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
  return sink_.add_sample(sample, {addresses_, std::span(&run, addresses_.empty() ? 0 : 1)});
}

void OtlpReader::apply_attributes(Sample& sample) {
  using Key = OtlpTables::Key;
  std::string_view thread_name;
  std::string_view process_name = owner_.process_name;
  sample.pid = owner_.pid;
  fields_.begin_sample();
  fields_.link(link_);
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
    fields_.attribute(id);
  }
  sample.flags = sample.pid == 0 && sample.tid == 0 ? kSampleIdle : 0;
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
