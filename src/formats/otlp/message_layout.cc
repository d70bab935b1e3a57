#include "formats/otlp/message_layout.h"

#include <span>

#include "bytes/byte_cursor.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/message_walk.h"
#include <protozero/exception.hpp>

namespace stackpack::otlp {

namespace {

using Release = MessageLayout::Release;

// By the numbers that the releases gave.
constexpr std::uint32_t kProfileOfRanges[] = {0,
                                              kSampleType,
                                              kSample,
                                              kLocationIndices,
                                              kTimeUnixNano,
                                              kDurationNano,
                                              kPeriodType,
                                              kPeriod,
                                              kComment,
                                              kDefaultType,
                                              kProfileId,
                                              kDroppedAttributes,
                                              kPayloadFormat,
                                              kOriginalPayload,
                                              kProfileAttribute};
constexpr std::uint32_t kProfileOfStacks[] = {0,
                                              kSampleType,
                                              kSample,
                                              kTimeUnixNano,
                                              kDurationNano,
                                              kPeriodType,
                                              kPeriod,
                                              kComment,
                                              kProfileId,
                                              kDroppedAttributes,
                                              kPayloadFormat,
                                              kOriginalPayload,
                                              kProfileAttribute};
constexpr std::uint32_t kSampleOfRanges[] = {
    0, kSampleStart, kSampleLength, kSampleValue, kSampleAttribute, kSampleLink, kSampleTime};
constexpr std::uint32_t kSampleOfStacks[] = {
    0, kSampleStack, kSampleValue, kSampleAttribute, kSampleLink, kSampleTime};

std::uint32_t number_in(std::span<const std::uint32_t> numbers, std::uint32_t number) {
  return number < numbers.size() ? numbers[number] : 0;
}

// What tells the releases apart.
class Evidence {
 public:
  [[nodiscard]] bool wants_samples() const { return !values_second_ && !attributes_second_; }

  void profile_field(const Field& field) {
    constexpr std::uint32_t kIndicesOfRanges = 3;   // else eight bytes
    constexpr std::uint32_t kDurationOfRanges = 5;  // else a message
    constexpr std::uint32_t kIdOfStacks = 8;        // else a number
    constexpr std::uint32_t kAttributesOfStacks = 12;
    ranges_ |= field.number == kIndicesOfRanges && field.has_bytes;
    ranges_ |= field.number == kDurationOfRanges && !field.has_bytes;
    stacks_ |= field.number == kIdOfStacks && field.has_bytes;
    stacks_ |= field.number == kAttributesOfStacks;
  }

  // Values are the second field, attributes the third and a link the fourth; or attributes, a link
  // and values. The lists of numbers have bytes, a link has none. One list alone is of values when
  // nothing else says what the sample counts.
  void sample(std::span<const std::byte> content) {
    constexpr std::uint32_t kSecond = 2;
    constexpr std::uint32_t kThird = 3;
    constexpr std::uint32_t kFourth = 4;
    bool any_list = false;
    bool any_other = false;
    bool any_fourth = false;
    bytes::ByteCursor in(content, 0);
    while (in.remaining() != 0) {
      protobuf::FieldHead field;
      if (!protobuf::read_field_head(in, field) || !in.ok() ||
          (field.has_bytes && field.value > in.remaining())) {
        return;
      }
      in.skip(field.has_bytes ? static_cast<std::size_t>(field.value) : 0);
      any_list |= field.number == kSecond && field.has_bytes;
      any_other |= field.number > kSecond;
      any_fourth |= field.number == kFourth && !field.has_bytes;
      values_second_ |= field.number == kThird && field.has_bytes;
      attributes_second_ |= field.number == (field.has_bytes ? kFourth : kThird);
    }
    values_second_ |= any_list && any_fourth;
    bare_list_ |= any_list && !any_other;
  }

  [[nodiscard]] Release release() const {
    if (ranges_) {
      return Release::kRanges;
    }
    if (!attributes_second_ && (values_second_ || bare_list_ || stacks_)) {
      return stacks_ ? Release::kStacks : Release::kSamples;
    }
    return Release::kCurrent;
  }

 private:
  bool ranges_ = false;
  bool stacks_ = false;
  bool values_second_ = false;
  bool attributes_second_ = false;
  bool bare_list_ = false;
};

void take_type(std::span<const std::byte> content, ProfileSurvey& found) {
  std::pair<std::uint64_t, std::uint64_t> type;
  try {
    for (auto message = message_of(content); message.next();) {
      if (message.tag_and_type() == number(kTypeText)) {
        type.first = message.get_uint64();
      } else if (message.tag_and_type() == number(kTypeUnit)) {
        type.second = message.get_uint64();
      } else {
        message.skip();
      }
    }
  } catch (const protozero::exception&) {
    return;  // counted where it is read
  }
  if (found.types.size() < ProfileSurvey::kMostTypes) {
    found.types.insert(type);
  }
}

Status survey_field(MessageWalk& walk, const Field& field, Evidence& evidence,
                    ProfileSurvey& found) {
  evidence.profile_field(field);
  const bool is_type = field.number == kSampleType && field.has_bytes;
  const bool is_sample = field.number == kSample && field.has_bytes && evidence.wants_samples();
  if (!is_type && !is_sample) {
    return walk.skip(field);
  }
  const auto content = walk.load(field, kMostSmallBytes);
  if (!content) {
    return content.error().code == ErrorCode::kLimit ? Status{} : content.error();
  }
  if (is_type) {
    take_type(*content, found);
  } else {
    evidence.sample(*content);
  }
  return {};
}

}  // namespace

std::uint32_t MessageLayout::of_dictionary(std::uint32_t number) const {
  return has_ranges() && number == kStackTable ? std::uint32_t{kAttributeUnits} : number;
}

std::uint32_t MessageLayout::of_profile(std::uint32_t number) const {
  switch (release_) {
    case Release::kRanges:
      return number_in(kProfileOfRanges, number);
    case Release::kStacks:
      return number_in(kProfileOfStacks, number);
    default:
      return number;
  }
}

std::uint32_t MessageLayout::of_sample(std::uint32_t number) const {
  switch (release_) {
    case Release::kRanges:
      return number_in(kSampleOfRanges, number);
    case Release::kStacks:
    case Release::kSamples:
      return number_in(kSampleOfStacks, number);
    default:
      return number;
  }
}

Result<ProfileSurvey> survey_profiles(io::ByteSource& source, std::uint64_t begin,
                                      std::uint64_t end, const capture::ReadControl& control) {
  ProfileSurvey found;
  Evidence evidence;
  MessageWalk walk(source, begin, end);
  const auto in_profile = [&](const Field& field) {
    return survey_field(walk, field, evidence, found);
  };
  const auto in_scope = [&](const Field& field) {
    return field.number == kProfile && field.has_bytes
               ? each_field(walk, field.end(), control, in_profile)
               : walk.skip(field);
  };
  const auto in_resource = [&](const Field& field) {
    return field.number == kScopeProfiles && field.has_bytes
               ? each_field(walk, field.end(), control, in_scope)
               : walk.skip(field);
  };
  const Status read = each_field(walk, end, control, [&](const Field& field) {
    return field.number == kResourceProfiles && field.has_bytes
               ? each_field(walk, field.end(), control, in_resource)
               : walk.skip(field);
  });
  if (!read && !is_damage(read.error())) {
    return read.error();
  }
  found.layout = MessageLayout(evidence.release());
  return found;
}

}  // namespace stackpack::otlp
