// Attributes and links of the samples of an imported OTLP profile, on their way out again.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/selection/sample_selection.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// A value of an attribute.
struct OtlpValue {
  enum class Type : std::uint8_t { kText, kBool, kInteger, kReal };
  Type type = Type::kText;
  std::uint64_t number = 0;  ///< two's complement; bits of a double
  std::string text;
  std::string unit = {};  ///< of kInteger in a table of attributes

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const OtlpValue&, const OtlpValue&) = default;
};

/// An attribute with the name that the file has: `resource.KEY` is one of the resource.
struct OtlpField {
  std::string name;
  OtlpValue value;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const OtlpField&, const OtlpField&) = default;
};

/// Which fields each sample has: its labels, and values of kinds `otlp:EVENT`, of which the n-th
/// sample of a time, thread, callstack and event has the n-th.
///
/// Memory: 32 bytes for each such sample, and the distinct fields and sets of fields.
class OtlpSampleFields {
 public:
  /// Numbers of fields, ascending.
  using Set = std::vector<std::uint32_t>;

  OtlpSampleFields() : sets_(1) {}

  /// Errors: those of the reader.
  static Result<OtlpSampleFields> load(const Reader& reader, const query::CaptureView& view);

  [[nodiscard]] bool empty() const { return samples_.empty() && label_sets_.empty(); }

  /// Before each pass over all selected samples in order of time.
  void begin_pass() { taken_.assign(samples_.size(), 0); }
  /// The number of the sample's set; 0: it has no fields.
  std::uint32_t find(const query::SelectedSample& sample);

  [[nodiscard]] const Set& set(std::uint32_t number) const { return sets_[number]; }
  [[nodiscard]] const OtlpField& field(std::uint32_t number) const { return fields_[number]; }

 private:
  // What a value has in common with its sample.
  struct Key {
    std::uint64_t time_ns = 0;
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
    StackId stack = kNoStack;
    std::uint32_t event = 0;  // number of its kind's name; 0: it has no values

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct SampleSet {
    Key key;
    std::uint32_t set = 0;
  };
  // A value of one kind, before those of a sample are put together.
  struct Piece {
    Key key;
    std::uint32_t nth = 0;  // of its key and kind
    Set fields;
  };

  struct Kinds;
  void take(const EventValue& row, const Kinds& kinds, std::vector<Piece>& pieces);
  Status load_labels(const query::CaptureView& view);
  void join(std::vector<Piece>& pieces);
  std::uint32_t number_of(OtlpField field);
  std::uint32_t number_of(const Set& set);
  std::uint32_t values_of(const query::SelectedSample& sample);
  std::uint32_t both(std::uint32_t labels, std::uint32_t values);

  std::vector<std::uint32_t> number_of_event_;  // by row of the event table
  std::vector<SampleSet> samples_;              // by key, then in order of time
  std::vector<std::uint32_t> taken_;            // at the first of a key: how many were found
  std::vector<OtlpField> fields_;
  std::map<OtlpField, std::uint32_t> field_numbers_;
  std::vector<Set> sets_;
  std::map<Set, std::uint32_t> set_numbers_;
  std::vector<std::uint32_t> label_sets_;  // numbers of sets, by those of the file
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined_;  // of labels, values
};

}  // namespace stackpack::exporting
