#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/callstack_sink.h"
#include "capture/synthetic_frames.h"
#include "formats/otlp/attribute_value.h"
#include "formats/otlp/message_walk.h"
#include "formats/protobuf/code_entries.h"

namespace stackpack::otlp {

/// The dictionary of a message, to whose entries everything else refers by index.
class OtlpTables {
 public:
  OtlpTables(capture::CallstackSink& sink, std::uint64_t max_bytes)
      : sink_(sink), names_(sink.system()), max_bytes_(max_bytes) {}

  /// Forgets the dictionary of the message before; the names of frames stay.
  void clear();

  /// An entry of a table, which is the field `field` of the dictionary. Errors: kLimit.
  Status take(std::uint32_t field, std::span<const std::byte> content, std::uint64_t offset);
  /// One that is larger than allowed: an empty one, and damage.
  void take_nothing(std::uint32_t field, std::uint64_t offset);

  [[nodiscard]] bool empty() const { return strings_.empty(); }

  enum class Key : std::uint8_t {
    kOther,
    kPid,
    kTid,
    kThreadName,
    kProcessName,
    kProcessor,
    kEvent,
    kBuildId,
    kFrameType,
  };
  struct Attribute {
    Key key = Key::kOther;
    std::uint64_t key_text = 0;
    std::string own_key;  ///< instead, of releases before 1.8
    std::uint64_t unit = 0;
    AttributeValue value;
  };
  struct Link {
    std::string trace;  ///< hexadecimal digits
    std::string span;
  };
  /// Nothing, and counted as damage, where there is no such entry.
  const Attribute* attribute(std::uint64_t index);
  const std::string& text(std::uint64_t index);
  const Link* link(std::uint64_t index);
  /// Without counting.
  [[nodiscard]] const Attribute* find_attribute(std::uint64_t index) const {
    return index < attributes_.size() ? &attributes_[static_cast<std::size_t>(index)] : nullptr;
  }
  [[nodiscard]] const std::string& name_of(const Attribute& attribute) {
    return attribute.own_key.empty() ? text(attribute.key_text) : attribute.own_key;
  }

  /// What an attribute stands for, by its key and the kind of its value.
  static Key key_of(std::string_view name, const AttributeValue& value);

  /// After the last entry: counts what is not kept.
  void finish();

  /// Appends the frames of a callstack, leaf first. False: there is no such callstack, or it is too
  /// deep, which is counted. Errors: kLimit.
  Result<bool> append_stack(std::uint64_t index, std::vector<std::uint64_t>& addresses);
  /// The same of a part of `indices`, which are of locations.
  Result<bool> append_range(std::span<const std::uint64_t> indices, std::uint64_t begin,
                            std::uint64_t size, std::vector<std::uint64_t>& addresses);

 private:
  struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t offset = 0;
    std::uint64_t file = 0;
    std::vector<std::uint64_t> attributes;
    std::vector<std::uint8_t> build_id;
  };
  struct Location {
    std::uint64_t mapping = 0;
    std::uint64_t address = 0;
    std::uint64_t first_line = 0;
    std::uint32_t lines = 0;
    FunctionSource type = FunctionSource::kUnknown;  ///< of the frame
    std::optional<std::uint64_t> name;               ///< the address that stands for it
  };
  struct Stack {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };

  void read_mapping(std::span<const std::byte> content);
  void read_location(std::span<const std::byte> content);
  void read_function(std::span<const std::byte> content);
  void read_attribute(std::span<const std::byte> content);
  void read_link(std::span<const std::byte> content);
  void read_stack(std::span<const std::byte> content);
  void read_unit(std::span<const std::byte> content);
  void settle_units();
  void settle_attributes();
  Result<bool> append_locations(std::span<const std::uint64_t> indices,
                                std::vector<std::uint64_t>& addresses);
  void settle_locations();
  void damaged(std::string_view loss);
  const protobuf::FunctionEntry& function_of(const protobuf::LineEntry& line);
  Result<std::uint64_t> address_of(const Location& location);
  void describe(const Location& location, capture::FunctionFact& fact);
  std::string unnamed(const Location& location, const Mapping& mapping);

  capture::CallstackSink& sink_;
  capture::SyntheticFrames names_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t offset_ = 0;  // of the dictionary, for losses
  std::vector<std::string> strings_;
  std::vector<Mapping> mappings_;
  std::vector<Location> locations_;
  std::vector<protobuf::LineEntry> lines_;
  std::vector<protobuf::FunctionEntry> functions_;
  std::vector<Attribute> attributes_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> units_;  // texts of a key and its unit
  struct LocationAttribute {
    std::size_t location = 0;
    std::uint64_t id = 0;
  };
  std::vector<LocationAttribute> location_attributes_;
  std::set<std::uint64_t> frame_attributes_;  // indices of those not kept, of images as well
  std::vector<Link> links_;
  std::vector<Stack> stacks_;
  std::vector<std::uint64_t> stack_locations_;
  std::vector<capture::InlinedFact> inlined_;
};

}  // namespace stackpack::otlp
