#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytes/byte_cursor.h"
#include "formats/jfr/number_coding.h"

namespace stackpack::jfr {

/// Members of events and constants that are understood, by their names.
enum class Slot : std::uint8_t {
  kStartTime,
  kDuration,
  kSamplingPeriod,
  kEventThread,
  kSampledThread,
  kStackTrace,
  kState,
  kAllocationSize,
  kTlabSize,
  kWeight,
  kSamples,
  kSize,
  kAmount,
  kPid,
  kJvmArguments,
  kJavaArguments,
  kTruncated,
  kFrames,
  kMethod,
  kLineNumber,
  kType,
  kName,
  kDescriptor,
  kString,
  kOsName,
  kOsThreadId,
  kJavaName,
  kJavaThreadId,
  kNone,
};
inline constexpr std::size_t kSlots = static_cast<std::size_t>(Slot::kNone);

/// How a member is stored.
enum class Coding : std::uint8_t { kByte, kShort, kInt, kLong, kFour, kEight, kText, kKey, kValue };

struct Member {
  std::uint64_t type = 0;   ///< id
  std::uint32_t index = 0;  ///< of a value's type, see EventTypes::at()
  Coding coding = Coding::kValue;
  Slot slot = Slot::kNone;
  bool is_array = false;
};

/// A class of the metadata.
struct Type {
  std::uint64_t id = 0;
  std::string name;
  std::string known_as;  ///< what version 2 calls it
  bool is_event = false;
  bool is_text = false;  ///< java.lang.String, whose constants are texts
  std::vector<Member> members;

  [[nodiscard]] bool has(Slot slot) const;
};

/// The types of a chunk, as its metadata event describes them.
///
/// Layout: varint texts, text[]; element: varint name, varint attributes, {varint key, varint
/// text}[], varint children, element[], where names, keys and texts are numbers of texts.
class EventTypes {
 public:
  static constexpr std::size_t kMostTexts = std::size_t{1} << 20;
  static constexpr std::size_t kMostTypes = std::size_t{1} << 16;
  static constexpr std::size_t kMostMembers = std::size_t{1} << 20;

  /// Replaces all types by those of the metadata event whose payload begins at the cursor. False:
  /// it is damaged, and the types are those from before.
  bool read(bytes::ByteCursor in, const NumberCoding& coding);

  /// Null: there is no such type.
  [[nodiscard]] const Type* find(std::uint64_t id) const;
  [[nodiscard]] const Type& at(std::uint32_t index) const { return types_[index]; }
  [[nodiscard]] bool empty() const { return types_.empty(); }

 private:
  struct Element;

  [[nodiscard]] bool read_elements(bytes::ByteCursor& in, const NumberCoding& coding,
                                   const std::vector<std::string>& texts);
  static std::string in_version_2(std::string_view name);
  bool take(const Element& element, std::uint32_t parent);
  bool link();

  std::vector<Type> types_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::size_t members_ = 0;
};

}  // namespace stackpack::jfr
