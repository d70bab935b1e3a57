// Types that events name: of objects that were allocated, of exceptions that were thrown.
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

/// The type of each sample whose event names one.
///
/// Values of events have the time, thread and callstack of their samples: of several that have all
/// three in common the first sample has the first value, and so on.
/// Memory: 36 bytes for each value that names a type, and all texts of values.
class SampleTypes {
 public:
  /// `reader` must outlive this. Errors: kUsage: the file has no values that name types; those of
  /// the reader.
  static Result<SampleTypes> load(const Reader& reader);

  /// Before each pass over samples in order of time.
  void begin_pass() { taken_.assign(values_.size(), 0); }

  /// A number for title(). `event`: the name of the sample's.
  std::uint32_t find(const query::SelectedSample& sample, std::string_view event);

  /// `[no type]` where the sample has no value, or one without a type.
  [[nodiscard]] std::string_view title(std::uint32_t number) const;

 private:
  // What a value has in common with its sample.
  struct Key {
    std::uint64_t time_ns = 0;
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
    StackId stack = kNoStack;
    capture::TypedEvent event = capture::TypedEvent::kNone;

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct TypedValue {
    Key key;
    std::uint32_t text = 0;
  };

  std::vector<TypedValue> values_;    // by key
  std::vector<std::uint32_t> taken_;  // at the first of a key: how many were found
  std::vector<std::string> texts_;
};

/// The first group whose events name types; null when none does.
const query::EventGroup* group_with_types(const std::vector<query::EventGroup>& groups);

}  // namespace stackpack::app
