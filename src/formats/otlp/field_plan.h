#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/otlp/attribute_value.h"
#include "formats/otlp/otlp_tables.h"
#include "formats/otlp/sample_values.h"
#include "stackpack/model.h"

namespace stackpack::otlp {

/// Which fields the samples of a Profile have: their attributes and links, and what their resource,
/// scope and Profile say.
///
/// Use: set_owners(); begin(); see_...() for what its samples have; settle(); then for each sample
/// begin_sample(), attribute(), link(), and add().
/// Memory: the distinct attributes and links of a Profile, of each kMost; more are counted as not
/// kept.
class FieldPlan {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 21;

  FieldPlan(OtlpTables& tables, SampleValues& values) : tables_(tables), values_(values) {}

  [[nodiscard]] bool keeps() const { return values_.keeps(); }

  /// What differs among the resources, or the scopes, of the file.
  void set_resource(std::vector<FieldValue> fields) { resource_ = std::move(fields); }
  void set_scope(std::vector<FieldValue> fields) { scope_ = std::move(fields); }

  void begin();
  void see_attribute(std::uint64_t id);
  void see_link(std::uint64_t id);
  void see_own(std::uint64_t id);
  /// Hexadecimal digits.
  void see_profile_id(std::string id) { profile_id_ = std::move(id); }
  /// All is seen. `event`: the row of the event table, called `name`.
  void settle(std::uint32_t event, std::string_view name);

  void begin_sample() { values_.begin_sample(); }
  void attribute(std::uint64_t id);
  void link(std::uint64_t id);
  void add(const Sample& sample) { values_.add(sample); }

 private:
  using Cell = std::optional<SampleValues::Cell>;
  struct LinkCells {
    Cell trace;
    Cell span;
  };

  [[nodiscard]] std::optional<FieldValue> field_of(std::uint64_t id, std::string_view prefix) const;
  template <typename Map>
  void see(std::uint64_t id, Map& map);
  static void take_key(const std::optional<FieldValue>& field, std::set<FieldKey>& keys);
  void set_for_all(const std::vector<FieldValue>& fields);
  [[nodiscard]] std::set<FieldKey> keys_of(const std::vector<FieldValue>& own) const;

  OtlpTables& tables_;
  SampleValues& values_;
  std::vector<FieldValue> resource_;
  std::vector<FieldValue> scope_;
  std::map<std::uint64_t, Cell> attributes_;
  std::map<std::uint64_t, LinkCells> links_;
  std::set<std::uint64_t> own_;
  std::string profile_id_;
};

}  // namespace stackpack::otlp
