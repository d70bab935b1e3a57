#include "formats/otlp/otlp_reader.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "bytes/byte_text.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/otlp_losses.h"
#include <protozero/exception.hpp>

namespace stackpack::otlp {

namespace {

// Times since then are dates, and not those of a clock that began with the machine.
constexpr std::uint64_t kFirstDateNs = 100'000'000'000'000'000;
constexpr std::uint64_t kMostSmallBytes = std::uint64_t{1}
                                          << 20;  // of what is neither table nor sample

bool is_damage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated;
}

}  // namespace

Status OtlpReader::read(io::ByteSource& source, std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  source_ = &source;
  tables_.clear();
  MessageWalk first(source, begin, end);
  const Status tables = each_field(first, end, [&](const Field& field) {
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
  const Status samples = each_field(second, end, [&](const Field& field) {
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
  capture::SystemRecorder& system = sink_.system();
  if (any_aggregate_ && !any_time_) {
    system.metadata("samples.aggregated", "1");
  }
  if (any_date_) {
    system.metadata("clock.wall_offset_ns", "0");
  }
  return {};
}

template <typename Take>
Status OtlpReader::each_field(MessageWalk& walk, std::uint64_t end, Take take) {
  Field field;
  while (true) {
    if (options_.control.stop_requested()) {
      return Error{ErrorCode::kCancelled, walk.offset(), "otlp: cancelled"};
    }
    const Result<bool> more = walk.next(field, end);
    if (!more || !*more) {
      return more ? Status{} : Status(more.error());
    }
    if (const Status status = take(field); !status) {
      return status;
    }
  }
}

Status OtlpReader::read_dictionary(MessageWalk& walk, const Field& outer) {
  return each_field(walk, outer.end(), [&](const Field& field) -> Status {
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
  return each_field(walk, outer.end(), [&](const Field& field) -> Status {
    if (field.number == kScopeProfiles && field.has_bytes) {
      return each_field(walk, field.end(), [&](const Field& inner) {
        return inner.number == kProfile && inner.has_bytes ? read_profile(walk, inner)
                                                           : walk.skip(inner);
      });
    }
    if (field.number != kResource || !field.has_bytes) {
      return walk.skip(field);
    }
    const auto content = walk.load(field, kMostSmallBytes);
    if (content) {
      take_resource(*content, field.begin);
    }
    return content || content.error().code == ErrorCode::kLimit ? Status{} : content.error();
  });
}

void OtlpReader::take_resource(std::span<const std::byte> content, std::uint64_t offset) {
  try {
    for (auto message = message_of(content); message.next();) {
      if (message.tag_and_type() != bytes(kResourceAttribute)) {
        message.skip();
        continue;
      }
      std::string key;
      std::string text;
      for (auto entry = message.get_message(); entry.next();) {
        if (entry.tag_and_type() == bytes(kKeyText)) {
          key = entry.get_string();
        } else if (entry.tag_and_type() == bytes(kKeyValue)) {
          for (auto value = entry.get_message(); value.next();) {
            if (value.tag_and_type() == bytes(kTextValue)) {
              text = value.get_string();
            } else {
              value.skip();
            }
          }
        } else {
          entry.skip();
        }
      }
      if (key == "host.name" && !text.empty()) {
        sink_.system().metadata(key, text);
      } else {
        sink_.losses().add(loss::kResourceAttributesNotKept, LossKind::kNotice, 1);
      }
    }
  } catch (const protozero::exception&) {
    sink_.losses().add(loss::kDamagedTableEntry, LossKind::kDamage, 1, offset);
  }
}

// Twice: what it says of its samples may come after them.
Status OtlpReader::read_profile(MessageWalk& walk, const Field& outer) {
  Profile profile;
  MessageWalk ahead(*source_, outer.begin, outer.end());
  const Status facts = each_field(
      ahead, outer.end(), [&](const Field& field) { return take_fact(ahead, field, profile); });
  if (!facts && !is_damage(facts.error())) {
    return facts;
  }
  name_event(profile);
  return each_field(walk, outer.end(), [&](const Field& field) -> Status {
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
  if (!field.has_bytes) {
    profile.time_ns = field.number == kTimeUnixNano ? field.value : profile.time_ns;
    profile.period = field.number == kPeriod ? field.value : profile.period;
    if (field.number == kProfileAttribute) {
      take_profile_attribute(field.value, profile);
    }
    return {};
  }
  const bool is_type = field.number == kSampleType || field.number == kPeriodType;
  const bool looks_at_values = field.number == kSample && !profile.any_values;
  if (!is_type && !looks_at_values && field.number != kProfileAttribute) {
    return walk.skip(field);
  }
  const auto content =
      walk.load(field, looks_at_values ? options_.max_sample_bytes : kMostSmallBytes);
  if (!content) {
    return content.error().code == ErrorCode::kLimit ? Status{} : content.error();
  }
  if (field.number == kProfileAttribute) {
    take_profile_attributes(*content, profile);
    return {};
  }
  if (looks_at_values) {
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
    for (auto message = message_of(content); message.next(); message.skip()) {
      profile.any_values |= message.tag() == kSampleValue;
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
    profile.event = given->text;
  }
}

void OtlpReader::name_event(Profile& profile) {
  const std::string& type = tables_.text(profile.sample_type.type);
  const std::string& unit = tables_.text(profile.sample_type.unit);
  const std::string& period_type = tables_.text(profile.period_type.type);
  const std::string& period_unit = tables_.text(profile.period_type.unit);
  const bool counts = unit == "count" || unit == "1" || unit.empty();
  const bool of_time = period_unit == "nanoseconds" || period_unit == "ns";
  bool weighs = profile.any_values;
  std::string kept_unit = counts ? std::string() : unit;
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
}

Status OtlpReader::take_sample(std::span<const std::byte> content, const Profile& profile,
                               std::uint64_t offset) {
  std::uint64_t stack = 0;
  bool linked = false;
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
          linked = message.get_uint64() != 0;
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
  if (linked) {
    sink_.losses().add(loss::kLinksNotKept, LossKind::kNotice, 1);
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
  any_time_ |= !times_.empty();
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
  if (value == 0) {
    sink_.losses().add(loss::kSampleOfZeros, LossKind::kNotice, 1);
    return {};
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  sample.weight = value > kMost / scale ? kMost : value * scale;
  any_date_ |= sample.time_ns >= kFirstDateNs;
  const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
  return sink_.add_sample(sample, {addresses_, std::span(&run, addresses_.empty() ? 0 : 1)});
}

void OtlpReader::apply_attributes(Sample& sample) {
  using Key = OtlpTables::Key;
  std::string_view thread_name;
  std::string_view process_name;
  for (const std::uint64_t id : attributes_) {
    const OtlpTables::Attribute* const given = tables_.attribute(id);
    if (given == nullptr) {
      continue;
    }
    const std::uint32_t number = given->number.value_or(kUnknownId);
    sample.pid = given->key == Key::kPid ? number : sample.pid;
    sample.tid = given->key == Key::kTid ? number : sample.tid;
    sample.cpu = given->key == Key::kProcessor ? number : sample.cpu;
    thread_name = given->key == Key::kThreadName ? given->text : thread_name;
    process_name = given->key == Key::kProcessName ? given->text : process_name;
  }
  sample.flags = sample.pid == 0 && sample.tid == 0 ? kSampleIdle : 0;
  const std::uint64_t first = *std::min_element(times_.begin(), times_.end());
  if (!process_name.empty()) {
    names_.process(sample.pid, first, process_name);
  }
  if (sample.tid != kUnknownId && !thread_name.empty()) {
    names_.thread(sample.pid, sample.tid, first, thread_name);
  }
}

}  // namespace stackpack::otlp
