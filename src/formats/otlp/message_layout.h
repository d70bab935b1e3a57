// Which release of the schema numbered the fields of a message. Before 1.10 they changed.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "capture/read_control.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::otlp {

/// Turns the numbers that fields have in a message into those of message_fields.h.
class MessageLayout {
 public:
  enum class Release : std::uint8_t {
    kRanges,   ///< 1.5 to 1.7: callstacks are ranges of location_indices, a Profile has several
               ///< types
    kStacks,   ///< 1.8
    kSamples,  ///< 1.9
    kCurrent,  ///< 1.10, and JSON
  };

  explicit MessageLayout(Release release = Release::kCurrent) : release_(release) {}

  [[nodiscard]] std::uint32_t of_dictionary(std::uint32_t number) const;
  /// 0: a field that it has not.
  [[nodiscard]] std::uint32_t of_profile(std::uint32_t number) const;
  [[nodiscard]] std::uint32_t of_sample(std::uint32_t number) const;
  /// The same for the number with the kind of the field, as protozero has them.
  [[nodiscard]] std::uint32_t of_sample_tag(std::uint32_t tag) const {
    return of_sample(tag >> kKindBits) << kKindBits | (tag & ((1U << kKindBits) - 1));
  }
  [[nodiscard]] bool has_ranges() const { return release_ == Release::kRanges; }

 private:
  static constexpr unsigned kKindBits = 3;

  Release release_;
};

/// What the Profiles of a message show before its dictionary is read.
struct ProfileSurvey {
  static constexpr std::size_t kMostTypes = 4096;

  MessageLayout layout;
  std::set<std::pair<std::uint64_t, std::uint64_t>> types;  ///< texts of type and unit
};

/// Tells the release by what kinds of fields Profiles and Samples have under which numbers.
/// Errors: those of the source; kCancelled. Damage ends it.
Result<ProfileSurvey> survey_profiles(io::ByteSource& source, std::uint64_t begin,
                                      std::uint64_t end, const capture::ReadControl& control);

}  // namespace stackpack::otlp
