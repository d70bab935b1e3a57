#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/function_recorder.h"
#include "capture/loss_counters.h"
#include "capture/synthetic_frames.h"
#include "capture/system_recorder.h"
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
  kTimeNanos = 9,
  kDurationNanos = 10,
  kLastField = 15,
};
enum ValueTypeField : std::uint32_t { kTypeText = 1, kTypeUnit = 2 };
enum SampleField : std::uint32_t { kSampleLocation = 1, kSampleValue = 2, kSampleLabel = 3 };
enum LabelField : std::uint32_t { kLabelKey = 1, kLabelText = 2, kLabelNumber = 3 };
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
  [[nodiscard]] std::optional<Frame> frame_of(std::uint64_t location) const;

  /// The string of that number; empty, and counted as damage, when there is none.
  const std::string& text(std::uint64_t number);

  struct ValueType {
    std::string type;
    std::string unit;
  };
  /// Columns of the samples' values, with their texts. After finish().
  [[nodiscard]] const std::vector<ValueType>& sample_types() const { return sample_types_; }
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
    bool placed = false;  ///< a module has been registered for it
  };
  struct Location {
    std::uint64_t mapping = 0;
    std::uint64_t address = 0;
    std::vector<protobuf::LineEntry> lines;  ///< innermost first
    std::size_t frame = 0;                   ///< number of its frame
  };

  void read_value_type(std::span<const std::byte> content);
  void read_mapping(std::span<const std::byte> content);
  void read_location(std::span<const std::byte> content);
  void read_function(std::span<const std::byte> content);
  void place_mappings();
  void place(Mapping& mapping);
  Status make_frame(Location& location);
  Status add_named(const Location& location);
  Status add_synthetic(const capture::FunctionFact& function);
  [[nodiscard]] std::optional<Frame> placed_frame(const Location& location);
  Status add_name(std::string_view name);
  [[nodiscard]] std::optional<Frame> unmapped_frame(const Location& location) const;
  void describe(const Location& location, capture::FunctionFact& fact);
  const protobuf::FunctionEntry& function_of(const protobuf::LineEntry& line);
  std::string name_in(const Mapping& mapping, std::uint64_t address);

  capture::SystemRecorder& system_;
  capture::LossCounters& losses_;
  capture::SyntheticFrames names_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::vector<std::string> strings_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> type_numbers_;
  std::vector<ValueType> sample_types_;
  std::map<std::uint64_t, Mapping> mappings_;
  std::map<std::uint64_t, std::uint64_t> placed_;                         // start to limit
  std::unordered_map<std::uint64_t, protobuf::FunctionEntry> functions_;  // by id
  std::unordered_map<std::uint64_t, Location> locations_;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, const Location*> named_;  // by address: the first one
  std::vector<capture::InlinedFact> inlined_;                 // of the present location
  std::int64_t time_ns_ = 0;
  std::int64_t duration_ns_ = 0;
};

}  // namespace stackpack::pprof
