#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/loss_counters.h"
#include "capture/value_recorder.h"
#include "formats/otlp/attribute_value.h"
#include "stackpack/model.h"

namespace stackpack::otlp {

/// Puts attributes and links of samples into values of events, of kinds `otlp:EVENT`.
///
/// A kind has eight fields at most, so an event has as many kinds as its fields need. Every sample
/// of a Profile has a value of each kind that the Profile uses: of samples that are alike in time,
/// thread and callstack the first one has the first value, and so on.
/// Use: begin_profile(); for each sample begin_sample(), set() and add(), which may come again.
/// Memory: the fields of at most ValueRecorder::kMostOwnKinds kinds.
class SampleValues {
 public:
  /// Where a value stands, and its number there.
  struct Cell {
    std::uint32_t kind = 0;
    std::uint32_t field = 0;
    std::uint64_t number = 0;
  };

  /// `recorder` may be null: nothing is kept, and nothing lost.
  SampleValues(capture::ValueRecorder* recorder, capture::LossCounters& losses)
      : recorder_(recorder), losses_(losses) {}

  [[nodiscard]] bool keeps() const { return recorder_ != nullptr; }

  /// `keys`: all that its samples may have. `event`: the row of the event table, called `name`.
  void begin_profile(std::uint32_t event, std::string_view name, const std::set<FieldKey>& keys);

  /// The cell of a value in the present Profile. Nothing, and counted: it cannot be kept.
  std::optional<Cell> cell(const FieldValue& field);

  /// What every sample of the Profile has.
  void set_for_all(const Cell& cell) { common_[cell.kind].fields[cell.field] = cell.number; }

  /// A value of a sample that has no cell.
  void count_not_kept() const;

  void begin_sample() { current_ = common_; }
  /// Of two values of one field the last one stays, and the other is counted.
  void set(const Cell& cell);
  void add(const Sample& sample);

 private:
  struct Place {
    std::size_t kind = 0;  // of the event
    std::uint32_t field = 0;
  };
  struct EventKinds {
    std::map<FieldKey, Place> places;
    std::vector<capture::ValueKind> kinds;
    std::vector<std::array<std::uint64_t, kMostValueFields>> nothing;  // values of no field
  };
  // A value of a kind that the Profile uses.
  struct Part {
    std::size_t kind = 0;  // of the event
    std::array<std::uint64_t, kMostValueFields> fields{};
  };

  void place(EventKinds& event, std::string_view name, const std::set<FieldKey>& keys);
  void add_kind(EventKinds& event, std::string_view name, std::span<const FieldKey> keys);
  [[nodiscard]] std::uint64_t number_of(const FieldValue& field);

  capture::ValueRecorder* recorder_;
  capture::LossCounters& losses_;
  std::map<std::uint32_t, EventKinds> events_;
  EventKinds* event_ = nullptr;  // of the present Profile
  std::optional<std::uint8_t> event_number_;
  std::vector<Part> common_;
  std::vector<Part> current_;
};

}  // namespace stackpack::otlp
