#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/callstack_sink.h"
#include "formats/otlp/attribute_value.h"
#include "formats/otlp/otlp_tables.h"
#include "stackpack/labels.h"

namespace stackpack::otlp {

/// The labels of samples: their attributes and links, and what their resource, scope and Profile
/// say.
///
/// Use: set_resource(), set_scope(); for each Profile begin_profile(), see_own(), see_profile_id()
/// and settle(); for each of its samples begin_sample(), attribute(), link() and row().
/// What cannot be kept is counted.
class SampleLabels {
 public:
  SampleLabels(OtlpTables& tables, capture::CallstackSink& sink) : tables_(tables), sink_(sink) {}

  /// What differs among the resources, or the scopes, of the file.
  void set_resource(std::vector<FieldValue> fields) { resource_ = std::move(fields); }
  void set_scope(std::vector<FieldValue> fields) { scope_ = std::move(fields); }

  void begin_profile();
  /// An attribute of the Profile.
  void see_own(std::uint64_t id);
  /// Hexadecimal digits.
  void see_profile_id(std::string id) { profile_id_ = std::move(id); }
  /// All is seen.
  void settle();

  void begin_sample() { labels_ = common_; }
  void attribute(std::uint64_t id);
  void link(std::uint64_t id);
  /// Nothing: the sample has no labels.
  std::optional<FieldRow> row();

 private:
  void add(LabelSet& labels, std::string name, const AttributeValue& value,
           std::string_view unit = {});
  void not_kept(std::uint64_t count);

  OtlpTables& tables_;
  capture::CallstackSink& sink_;
  std::vector<FieldValue> resource_;
  std::vector<FieldValue> scope_;
  std::set<std::uint64_t> own_;
  std::string profile_id_;
  LabelSet common_;  // of all samples of the Profile
  LabelSet labels_;
};

}  // namespace stackpack::otlp
