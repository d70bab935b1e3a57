#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capture/function_recorder.h"
#include "capture/loss_counters.h"
#include "capture/synthetic_frames.h"
#include "capture/system_recorder.h"
#include "core/index_table.h"
#include "formats/pprof/frame_pruner.h"
#include "formats/pprof/message_stream.h"
#include "formats/protobuf/code_entries.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::pprof {

// Field numbers of profile.proto which the reader understands.
// Source: https://github.com/google/pprof/blob/main/proto/profile.proto

enum ProfileField : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};
enum ValueTypeField : std::uint32_t { kTypeText = 1, kTypeUnit = 2 };
enum SampleField : std::uint32_t { kSampleLocation = 1, kSampleValue = 2, kSampleLabel = 3 };
enum LabelField : std::uint32_t {
  kLabelKey = 1,
  kLabelText = 2,
  kLabelNumber = 3,
  kLabelUnit = 4,
};
enum MappingField : std::uint32_t {
  kMappingId = 1,
  kMappingStart = 2,
  kMappingLimit = 3,
  kMappingOffset = 4,
  kMappingFile = 5,
  kMappingBuildId = 6,
};
enum LocationField : std::uint32_t {
  kLocationId = 1,
  kLocationMapping = 2,
  kLocationAddress = 3,
  kLocationLine = 4,
};
// The name's number stands for those of the fields that follow: protobuf::take_function_field.
enum FunctionField : std::uint32_t { kFunctionId = 1, kFunctionName = 2 };

/// What becomes of a frame that the profile says to drop (FramePruner), where a frame that it keeps
/// calls it.
enum class Pruning : std::uint8_t {
  kKeep,
  kDropCallees,  ///< it stays, since a function that calls its own inlined code does
  kDrop,         ///< it goes with all that it calls
};

struct PrunedFrame {
  Frame frame;
  Pruning pruning = Pruning::kKeep;
};

/// What the samples of a profile name by number: strings, mappings, functions, locations.
///
/// Use: take() every field of the file, then finish(), then frame_of().
class ProfileTables {
 public:
  ProfileTables(capture::SystemRecorder& system, capture::LossCounters& losses,
                std::uint64_t max_bytes);

  /// Keeps the field when it belongs to a table. Errors: kLimit.
  Status take(const Field& field, std::uint64_t offset);

  /// Registers modules and functions, and works out the frame of every location. Errors: kLimit.
  Status finish();

  /// The frame of a location; nothing when there is no such location.
  [[nodiscard]] std::optional<PrunedFrame> frame_of(std::uint64_t location) const;

  /// The string of that number; empty, and counted as damage, when there is none.
  const std::string& text(std::uint64_t number);

  struct ValueType {
    std::string type;
    std::string unit;
  };
  /// Columns of the samples' values, with their texts. After finish().
  [[nodiscard]] const std::vector<ValueType>& sample_types() const { return sample_types_; }
  /// Which of them the profile says to show, or else the last one, as pprof does. After finish().
  [[nodiscard]] std::size_t default_type() const { return default_type_; }
  [[nodiscard]] std::int64_t time_ns() const { return time_ns_; }
  [[nodiscard]] std::int64_t duration_ns() const { return duration_ns_; }

 private:
  struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    std::uint64_t offset = 0;
    std::uint64_t file_name = 0;
    std::uint64_t build_id = 0;
    std::vector<std::uint8_t> build_id_bytes;
    std::uint32_t image = 0;  ///< the same number for mappings of one file
    bool placed = false;      ///< a module has been registered for it
    std::uint64_t base = 0;   ///< of that: `start`, unless another mapping has those addresses
  };
  struct Location {
    std::uint64_t mapping = 0;
    std::uint64_t address = 0;
    std::vector<protobuf::LineEntry> lines;  ///< innermost first
    std::size_t frame = 0;                   ///< number of its frame
    Pruning pruning = Pruning::kKeep;
  };

  /// What a function names: bytes of an image, or of memory without one.
  struct NamedPlace {
    std::uint32_t image = kNoImage;
    std::uint64_t address = 0;  ///< in an image: in its file

    friend bool operator==(const NamedPlace&, const NamedPlace&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const NamedPlace& place) const {
      return core::mix_bits(place.address + core::spread_bits(place.image));
    }
  };
  static constexpr std::uint32_t kNoImage = ~std::uint32_t{0};
  // Where no processor has code, beyond capture::SyntheticFrames.
  static constexpr std::uint64_t kFirstMoved = 0x5F80'0000'0000'0000;
  static constexpr std::uint64_t kEndOfMoved = 0x6000'0000'0000'0000;

  using TextNumbers = std::pair<std::uint64_t, std::uint64_t>;

  void take_number(const Field& field);
  void add_comment(std::uint64_t number);
  void read_comments(std::span<const std::byte> packed);
  static TextNumbers read_value_type(std::span<const std::byte> content);
  void state_facts();
  void read_mapping(std::span<const std::byte> content);
  void read_location(std::span<const std::byte> content);
  void read_function(std::span<const std::byte> content);
  void place_mappings();
  void place(Mapping& mapping);
  [[nodiscard]] std::optional<std::uint64_t> base_of(const Mapping& mapping);
  void prune(Location& location, FramePruner& pruner);
  Status make_frame(Location& location);
  Status add_named(const Location& location);
  Status add_synthetic(const capture::FunctionFact& function, std::uint64_t mapping);
  [[nodiscard]] std::optional<Frame> placed_frame(const Location& location);
  Status add_name(std::string_view name, std::uint64_t mapping = 0);
  [[nodiscard]] bool lies_in_mapping(std::uint64_t address) const;
  [[nodiscard]] std::optional<Frame> unmapped_frame(const Location& location) const;
  void describe(const Location& location, capture::FunctionFact& fact);
  [[nodiscard]] NamedPlace place_of(const Location& location, bool placed) const;
  const protobuf::FunctionEntry& function_of(const protobuf::LineEntry& line);
  [[nodiscard]] bool names_nothing(const protobuf::LineEntry& line);
  std::string name_in(const Mapping& mapping, std::uint64_t address);

  capture::SystemRecorder& system_;
  capture::LossCounters& losses_;
  capture::SyntheticFrames names_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::vector<std::string> strings_;
  std::vector<TextNumbers> type_numbers_;
  std::vector<ValueType> sample_types_;
  std::map<std::uint64_t, Mapping> mappings_;
  std::map<std::uint64_t, std::uint64_t> placed_;  // start to limit
  std::uint64_t next_base_ = kFirstMoved;
  std::unordered_map<std::uint64_t, protobuf::FunctionEntry> functions_;  // by id
  std::unordered_map<std::uint64_t, Location> locations_;
  std::vector<Frame> frames_;
  std::map<std::pair<std::string, std::vector<std::uint8_t>>, std::uint32_t> images_;
  std::unordered_map<NamedPlace, const Location*, PlaceHash> named_;  // the first one of each
  std::unordered_set<std::uint64_t> named_without_mapping_;           // addresses
  std::vector<capture::InlinedFact> inlined_;                         // of the present location
  TextNumbers period_type_;
  std::int64_t period_ = 0;
  std::vector<std::uint64_t> comments_;
  std::uint64_t default_type_text_ = 0;
  std::uint64_t doc_url_ = 0;
  std::uint64_t drop_frames_ = 0;
  std::uint64_t keep_frames_ = 0;
  std::size_t default_type_ = 0;
  std::int64_t time_ns_ = 0;
  std::int64_t duration_ns_ = 0;
};

}  // namespace stackpack::pprof
