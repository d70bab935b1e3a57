// The values of a file's events with what is needed to read them: kinds, texts, names of places.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/analysis/runtime_frames.h"
#include "capture/carried_values.h"
#include "capture/life_index.h"
#include "capture/value_kinds.h"
#include "core/sort_rows.h"
#include "stackpack/event_values.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// What EventValueTable::thread() calls a thread that was not recorded.
inline constexpr std::string_view kUnknownThread = "(not known)";

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

  /// `NAME[TID]`, `[TID]` of one without a name; kUnknownThread of kUnknownId.
  [[nodiscard]] std::string thread(std::uint32_t pid, std::uint32_t tid,
                                   std::uint64_t time_ns) const;

  /// The function that was at work: the first frame with a name, leaf first, that is none of
  /// `passed_over`, if there is one; else the module of the leaf, as `[module]`; empty without a
  /// callstack.
  Result<std::string> function(const EventValue& value,
                               RuntimeFrames passed_over = RuntimeFrames::kNone);

 private:
  explicit EventValueTable(const Reader& reader) : reader_(&reader) {}
  bool translate(const EventValue& value, Row& row) const;

  const Reader* reader_;
  capture::ValueTranslation kinds_;
  std::vector<std::string> texts_{std::string()};
  std::unique_ptr<const Symbols> symbols_;
  std::vector<Process> processes_;
  std::optional<capture::ProcessLives> lives_;  // of processes_
  std::vector<Thread> threads_;
  std::optional<capture::ThreadLives> thread_lives_;  // of threads_
  std::map<std::tuple<StackId, std::uint32_t, RuntimeFrames>, std::string> functions_;
  std::vector<Frame> frames_;
  std::vector<CodeLocation> locations_;
};

// Events added up by a name: by type, message, function or file.

struct ValueSum {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;       ///< in all, of those that have a duration
  std::uint64_t most_ns = 0;  ///< the longest of them
};

/// Sums by name.
class ValueSums {
 public:
  ValueSum& of(const std::string& name) {
    ValueSum& sum = sums_[name];
    sum.name = name;
    return sum;
  }

  /// The largest by `measure(const ValueSum&)`, equal ones by name; `limit` of them, 0: all.
  template <typename Measure>
  [[nodiscard]] std::vector<ValueSum> largest(std::size_t limit, const Measure& measure) const {
    std::vector<ValueSum> rows;
    for (const auto& [name, sum] : sums_) {
      rows.push_back(sum);
    }
    core::sort_rows(
        rows, [&measure](const ValueSum& a, const ValueSum& b) { return measure(a) > measure(b); });
    if (limit != 0 && rows.size() > limit) {
      rows.resize(limit);
    }
    return rows;
  }

  [[nodiscard]] std::size_t size() const { return sums_.size(); }

 private:
  std::map<std::string, ValueSum> sums_;
};

}  // namespace stackpack::app
