// The values of a file's events with what is needed to read them: kinds, texts, names of places.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/life_index.h"
#include "capture/value_kinds.h"
#include "capture/value_translation.h"
#include "stackpack/event_values.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// Reads values by kind. Files describe their kinds: a kind or field that this program does not
/// know is passed over, and a field that the file does not have has no value.
class EventValueTable {
 public:
  /// `reader` must outlive the table. Errors: as Reader::event_values().
  static Result<EventValueTable> load(const Reader& reader);

  /// One row by the kinds of this program.
  struct Row {
    capture::ValueKind kind = capture::ValueKind::kGcStart;
    const EventValue* value = nullptr;
    std::array<std::uint64_t, kMostValueFields> fields{};  ///< in the order of value_kinds()
  };

  /// Calls `visit` for each row of a known kind, in order of time.
  template <typename Visit>
  Status visit(const Visit& visit_row) const {
    return reader_->event_values([&](std::span<const EventValue> rows) {
      for (const EventValue& value : rows) {
        if (Row row; translate(value, row)) {
          visit_row(row);
        }
      }
      return true;
    });
  }

  [[nodiscard]] const std::string& text(std::uint64_t number) const {
    return texts_[number < texts_.size() ? static_cast<std::size_t>(number) : 0];
  }

  /// `PROCESS (PID)`; `PID N` of one without a name.
  [[nodiscard]] std::string process(std::uint32_t pid, std::uint64_t time_ns) const;

  /// The function that was at work: the first frame with a name, leaf first; else the module of the
  /// leaf, as `[module]`; empty without a callstack.
  Result<std::string> function(const EventValue& value);

 private:
  explicit EventValueTable(const Reader& reader) : reader_(&reader) {}
  bool translate(const EventValue& value, Row& row) const;

  const Reader* reader_;
  capture::ValueTranslation kinds_;
  std::vector<std::string> texts_{std::string()};
  std::unique_ptr<const Symbols> symbols_;
  std::vector<Process> processes_;
  std::optional<capture::ProcessLives> lives_;  // of processes_
  std::map<std::pair<StackId, std::uint32_t>, std::string> functions_;
  std::vector<Frame> frames_;
  std::vector<CodeLocation> locations_;
};

}  // namespace stackpack::app
