#pragma once

#include <cstddef>
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
#include "capture/name_times.h"
#include "formats/otlp/message_layout.h"
#include "formats/otlp/message_walk.h"
#include "formats/otlp/otlp_read_options.h"
#include "formats/otlp/otlp_tables.h"
#include "formats/otlp/owner_survey.h"
#include "formats/otlp/resource_fields.h"
#include "formats/otlp/sample_labels.h"
#include "io/byte_source.h"

namespace stackpack::otlp {

/// Reads messages of ProfilesData into a sink: each one twice, for its dictionary and then for its
/// samples.
class OtlpReader {
 public:
  OtlpReader(capture::CallstackSink& sink, const ReadOptions& options)
      : sink_(sink),
        options_(options),
        tables_(sink, options.max_table_bytes),
        labels_(tables_, sink) {}

  /// Looks for what is the same in all messages: each of them, before the first read().
  Status survey(io::ByteSource& source, std::uint64_t begin, std::uint64_t end) {
    return survey_owners(source, begin, end, options_.control, constants_);
  }

  /// A message in the bytes [begin, end) of a source. Whose numbers its fields have: those of a
  /// release, or of message_fields.h, as message_of_json() gives them.
  enum class Numbers : std::uint8_t { kOfRelease, kOurs };
  Status read(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
              Numbers numbers = Numbers::kOfRelease);

  [[nodiscard]] std::uint64_t parsed() const { return parsed_; }

  /// Of what stands around the messages.
  void add_parsed(std::uint64_t bytes) { parsed_ += bytes; }

  Status finish();

 private:
  struct ValueType {
    std::uint64_t type = 0;
    std::uint64_t unit = 0;
  };
  // What a Profile has apart from its samples, which may come before it.
  struct Profile {
    std::vector<ValueType> sample_types;
    std::uint64_t default_type = 0;
    ValueType period_type;
    std::vector<std::uint64_t> locations;  // of whose parts callstacks are
    std::uint64_t period = 0;
    std::uint64_t time_ns = 0;
    std::string event;
    bool any_values = false;
    std::uint64_t scale = 1;  // what a value of 1 weighs
    std::size_t column = 0;   // the type that is read

    [[nodiscard]] bool has_columns() const { return sample_types.size() > 1; }
  };

  // Where a callstack stands: a number, or a part of the Profile's locations.
  struct StackPlace {
    std::uint64_t number = 0;
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };

  // What a resource says of its samples that is a column of them.
  struct OwnerColumns {
    std::uint32_t pid = kUnknownId;
    std::string process_name;
  };

  template <typename Take>
  Status each_of(MessageWalk& walk, std::uint64_t end, Take take) {
    return each_field(walk, end, options_.control, take);
  }
  Status read_dictionary(MessageWalk& walk, const Field& outer);
  Status read_resource(MessageWalk& walk, const Field& outer);
  Status read_scope(MessageWalk& walk, const Field& outer);
  Result<std::vector<FieldValue>> differing_fields(const Field& outer, ConstantFields::Owner owner);
  void take_columns(std::vector<FieldValue>& fields);
  Status read_profile(MessageWalk& walk, const Field& outer);
  Status take_fact(MessageWalk& walk, const Field& field, Profile& profile);
  Status take_message_fact(MessageWalk& walk, const Field& field, Profile& profile);
  Status read_samples(MessageWalk& walk, const Field& outer, const Profile& profile);
  void take_content(const Field& field, std::span<const std::byte> content, Profile& profile);
  void look_for_values(std::span<const std::byte> content, Profile& profile);
  void take_numbers(std::span<const std::byte> packed, std::vector<std::uint64_t>& numbers);
  void take_type(std::span<const std::byte> content, std::uint64_t offset, ValueType& type);
  void damaged_entry(std::uint64_t offset);
  void take_profile_attribute(std::uint64_t index, Profile& profile);
  void name_event(Profile& profile);
  std::string name_of_type(const Profile& profile, const std::string& type,
                           const std::string& unit);
  void take_sample_field(protozero::pbf_reader& message, StackPlace& stack);
  void settle_values(const Profile& profile);
  Status take_sample(std::span<const std::byte> content, const Profile& profile,
                     std::uint64_t offset);
  Status add(const StackPlace& stack, const Profile& profile, std::uint64_t offset);
  Status add_one(Sample& sample, std::size_t i, std::uint64_t scale, std::uint64_t offset);
  void apply_attributes(Sample& sample);
  void name_thread(const Sample& sample, std::string_view process, std::string_view thread);

  capture::CallstackSink& sink_;
  ReadOptions options_;
  OtlpTables tables_;
  SampleLabels labels_;
  std::optional<FieldRow> row_;  // of the present sample
  MessageLayout layout_;
  ConstantFields constants_;
  OwnerColumns owner_;
  capture::NameTimes names_;
  io::ByteSource* source_ = nullptr;
  std::uint64_t begin_ = 0;  // of the message
  std::uint64_t parsed_ = 0;
  bool damaged_ = false;
  bool any_time_ = false;
  bool timed_ = false;  // the sample has times of its own
  bool any_aggregate_ = false;
  bool any_date_ = false;
  bool any_dictionary_ = false;
  std::map<std::pair<std::string, bool>, std::uint32_t> events_;
  std::map<std::string, std::set<std::string>> units_of_type_;
  std::string default_event_;
  std::uint32_t event_ = 0;  // of the present Profile
  std::uint64_t link_ = 0;
  std::vector<std::uint64_t> attributes_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> times_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace stackpack::otlp
