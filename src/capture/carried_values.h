// Values of a file on their way into another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/value_kinds.h"
#include "capture/value_recorder.h"
#include "stackpack/event_values.h"

namespace stackpack::capture {

// Values of a file by the kinds and fields of this program.

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

/// Brings values of a file into a recorder: kinds of this program, texts by the recorder's numbers.
/// Memory: 8 bytes for each text of the file.
class CarriedValues {
 public:
  /// `into` must outlive this.
  CarriedValues(std::span<const ValueSchema> kinds, std::vector<std::string> texts,
                ValueRecorder& into)
      : translation_(kinds),
        kinds_(kinds.begin(), kinds.end()),
        texts_(std::move(texts)),
        numbers_(texts_.size(), kNoValue),
        into_(into) {
    for (const ValueSchema& kind : kinds) {
      own_.push_back(is_own_kind(kind) ? into.own_kind(kind) : std::nullopt);
    }
  }

  /// For ValueRecorder::add_placed(). Nothing: this program does not know the kind.
  std::optional<RecordedValue> carry(const EventValue& value) {
    RecordedValue carried;
    carried.time_ns = value.time_ns;
    carried.pid = value.pid;
    carried.tid = value.tid;
    if (const std::optional<ValueKind> own = own_[value.kind]) {
      carried.kind = *own;
      carried.values = value.values;
      const std::vector<ValueField>& fields = kinds_[value.kind].fields;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].type == ValueType::kText) {
          carried.values[i] = text(carried.values[i]);
        }
      }
      return carried;
    }
    if (!translation_.translate(value, carried.kind, carried.values)) {
      return std::nullopt;
    }
    const std::span<const ValueKindField> fields =
        value_kinds()[static_cast<std::size_t>(carried.kind)].fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].type == ValueType::kText) {
        carried.values[i] = text(carried.values[i]);
      }
    }
    return carried;
  }

 private:
  std::uint64_t text(std::uint64_t number) {
    if (number == 0 || number >= texts_.size()) {
      return 0;
    }
    std::uint64_t& known = numbers_[static_cast<std::size_t>(number)];
    if (known == kNoValue) {
      known = into_.text(texts_[static_cast<std::size_t>(number)]);
    }
    return known;
  }

  ValueTranslation translation_;
  std::vector<ValueSchema> kinds_;
  std::vector<std::optional<ValueKind>> own_;  // by kind of the file: the recorder's
  std::vector<std::string> texts_;
  std::vector<std::uint64_t> numbers_;  // of the recorder; kNoValue: not asked for yet
  ValueRecorder& into_;
};

}  // namespace stackpack::capture
