// What events name: types of objects that were allocated, of exceptions that were thrown, values of
// fields of tracepoints.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/value_kinds.h"
#include "query/event_groups.h"
#include "query/selection/sample_selection.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The type of each sample whose event names one, or the value of a field.
///
/// Values of events have the time, thread and callstack of their samples: of several that have all
/// three in common the first sample has the first value, and so on.
/// Memory: 36 bytes for each value that names a type, and all texts of values.
class SampleTypes {
 public:
  /// `reader` must outlive this. Errors: kUsage: the file has no values that name types; those of
  /// the reader.
  static Result<SampleTypes> load(const Reader& reader);

  /// The same of a field of tracepoints.
  /// Errors: kUsage: the file has none of that name; those of the reader.
  static Result<SampleTypes> load_field(const Reader& reader, std::string_view field);

  /// Before each pass over samples in order of time.
  void begin_pass() { taken_.assign(values_.size(), 0); }

  /// Whether samples of an event have values, by its name.
  [[nodiscard]] bool has_values(std::string_view event) const { return event_number(event) != 0; }

  /// A number for title(). `event`: the name of the sample's.
  std::uint32_t find(const query::SelectedSample& sample, std::string_view event);

  /// `[no type]` or `[no value]` where the sample has none.
  [[nodiscard]] std::string_view title(std::uint32_t number) const;

 private:
  // What a value has in common with its sample.
  struct Key {
    std::uint64_t time_ns = 0;
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
    StackId stack = kNoStack;
    std::uint32_t event = 0;  // number of what the event is; 0: it has no value

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct TypedValue {
    Key key;
    std::uint32_t text = 0;
  };

  [[nodiscard]] std::uint32_t event_number(std::string_view event) const;
  void finish(const std::vector<std::string>& texts);

  bool is_field_ = false;
  std::vector<std::string> tracepoints_;  // that have the field
  std::vector<TypedValue> values_;        // by key
  std::vector<std::uint32_t> taken_;      // at the first of a key: how many were found
  std::vector<std::string> texts_;
};

/// The names of tracepoints with a field. Errors: those of the reader.
Result<std::vector<std::string>> tracepoints_with(const Reader& reader, std::string_view field);

/// Whether the name of an event is that of a tracepoint, with or without a modifier.
bool is_tracepoint(std::string_view event, std::string_view tracepoint);

/// The first group whose events name types; null when none does.
const query::EventGroup* group_with_types(const std::vector<query::EventGroup>& groups);

}  // namespace stackpack::app
