#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/callstack_sink.h"
#include "formats/otlp/field_plan.h"
#include "formats/otlp/message_walk.h"
#include "formats/otlp/name_times.h"
#include "formats/otlp/otlp_read_options.h"
#include "formats/otlp/otlp_tables.h"
#include "formats/otlp/owner_survey.h"
#include "formats/otlp/resource_fields.h"
#include "formats/otlp/sample_values.h"
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
        sample_values_(sink.values(), sink.losses()),
        fields_(tables_, sample_values_) {}

  /// Looks for what is the same in all messages: each of them, before the first read().
  Status survey(io::ByteSource& source, std::uint64_t begin, std::uint64_t end) {
    return survey_owners(source, begin, end, options_.control, constants_);
  }

  /// A message in the bytes [begin, end) of a source.
  Status read(io::ByteSource& source, std::uint64_t begin, std::uint64_t end);

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
    ValueType sample_type;
    ValueType period_type;
    std::uint64_t period = 0;
    std::uint64_t time_ns = 0;
    std::string event;
    bool any_values = false;
    std::uint64_t scale = 1;  // what a value of 1 weighs
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
  void look_for_values(std::span<const std::byte> content, std::uint64_t offset, Profile& profile);
  void take_type(std::span<const std::byte> content, std::uint64_t offset, ValueType& type);
  void damaged_entry(std::uint64_t offset);
  void take_profile_attributes(std::span<const std::byte> packed, Profile& profile);
  void take_profile_attribute(std::uint64_t index, Profile& profile);
  void name_event(Profile& profile);
  Status take_sample(std::span<const std::byte> content, const Profile& profile,
                     std::uint64_t offset);
  Status add(std::uint64_t stack, const Profile& profile, std::uint64_t offset);
  Status add_one(Sample& sample, std::size_t i, std::uint64_t scale, std::uint64_t offset);
  void apply_attributes(Sample& sample);
  void name_thread(const Sample& sample, std::string_view process, std::string_view thread);

  capture::CallstackSink& sink_;
  ReadOptions options_;
  OtlpTables tables_;
  SampleValues sample_values_;
  FieldPlan fields_;
  ConstantFields constants_;
  OwnerColumns owner_;
  NameTimes names_;
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
  std::uint32_t event_ = 0;  // of the present Profile
  std::uint64_t link_ = 0;
  std::vector<std::uint64_t> attributes_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> times_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace stackpack::otlp
