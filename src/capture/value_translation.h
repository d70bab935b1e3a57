// Values of a file by the kinds and fields of this program.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "capture/value_kinds.h"
#include "stackpack/event_values.h"

namespace stackpack::capture {

/// Files describe their kinds: a kind or field that this program does not know is passed over, and
/// a field that the file does not have has no value.
class ValueTranslation {
 public:
  using Fields = std::array<std::uint64_t, kMostValueFields>;

  ValueTranslation() = default;
  /// `kinds`: those of the file.
  explicit ValueTranslation(std::span<const ValueSchema> kinds);

  /// False: the kind is not known. `fields`: in the order of value_kinds().
  bool translate(const EventValue& value, ValueKind& kind, Fields& fields) const;

 private:
  // Where the kinds and fields of the file stand among those of this program.
  struct KindPlace {
    bool known = false;
    ValueKind kind = ValueKind::kGcStart;
    std::array<std::size_t, kMostValueFields> fields{};  // kMostValueFields: not there
    std::size_t count = 0;
  };

  std::vector<KindPlace> places_;
};

}  // namespace stackpack::capture
