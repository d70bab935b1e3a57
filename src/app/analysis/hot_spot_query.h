// What a report asks for, and what it gets.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stackpack/export.h"
#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/stats.h"

namespace stackpack::app {

enum class HotSpotKind : std::uint8_t {
  kFunction,
  kModule,
  kLine,
  kFile,            ///< source files
  kUnlinedAddress,  ///< functions, with the offsets of code that has no line
  kProcess,
  kThread,
  kComm,  ///< names of threads: those of one name are one
  kPool,  ///< names of threads whose numbers do not matter
  kEvent,
  kCallstack,
  kSource,  ///< captures of a merged file; any other is one
  kType,    ///< of objects that were allocated, or of exceptions
  kWaker,   ///< of waits: who ended them
  kReason,  ///< of waits: what for
  kControlGroup,
  kField,        ///< values of a label, or of a field of tracepoints
  kPackage,      ///< of the images: ImagePackages
  kCodeAddress,  ///< functions, with the offsets of all their code
};

/// One row. What samples count for is a matter of the options.
struct HotSpot {
  std::string name;
  std::string module;       ///< functions and lines: file name of the image; may be empty
  std::string place;        ///< lines: file:line; may be empty
  std::uint64_t self = 0;   ///< samples in it
  std::uint64_t total = 0;  ///< samples in it or in what it called; each sample once
  /// Of a row of callstacks: the lowest number of those that it stands for, as `show` takes it.
  std::optional<StackId> stack = std::nullopt;
  std::vector<AliasList> aliases{};  ///< what a function is called, too

  friend bool operator==(const HotSpot&, const HotSpot&) = default;
};

struct HotSpots {
  std::string event;               ///< what it is about; empty: several
  std::vector<std::string> parts;  ///< the events which that is, where they are several
  std::uint64_t samples = 0;
  std::uint64_t value = 0;        ///< what they count for in all: the whole of each share
  std::string unit = "samples";   ///< of every value
  std::vector<HotSpot> rows;      ///< in no order; see sort_hot_spots
  std::size_t rows_left_out = 0;  ///< as HotSpotQuery::most_callstacks has it
  /// What the choice of the event left out.
  std::vector<EventCount> events_left_out;
  IdleLeftOut idle;
  std::vector<std::string> notices;  ///< as query::cut_notices has them

  /// Adds those of another file; rows of the same name, module and place become one.
  void add(HotSpots other);
};

/// Functions as query::FunctionPattern has them; any fit will do, also that of the end of a name.
struct StackPatterns {
  std::vector<std::string> focus;   ///< a callstack has one that fits any of these, or is left out
  std::vector<std::string> ignore;  ///< ... and none that fits any of these
  std::vector<std::string> hide;    ///< such frames are taken out of callstacks

  [[nodiscard]] bool empty() const { return focus.empty() && ignore.empty() && hide.empty(); }
};

struct HotSpotQuery {
  ExportOptions filters;  ///< which samples, and what they count for; FrameStyle of frames
  HotSpotKind by = HotSpotKind::kFunction;
  StackPatterns patterns{};
  std::string field{};  ///< of kField: its name, or the label's key
  /// Of kField: what was asked for is a label; rows of other samples are called `[no label]`.
  bool is_label = false;
  std::vector<std::string> types{};  ///< samples alone whose event names a type that fits one
  bool folds_broken = false;         ///< what query::BrokenRoots finds is one row
  bool folds_inlined = false;        ///< as query::FrameEntities::fold_inlined()
  bool linkage_names = false;  ///< functions are told apart, and called, as the linker has them
  std::string event_key;       ///< as ReportPlan says it; empty: the file's own choice
  /// Of kCallstack: so many of the largest rows alone; 0: all.
  std::size_t most_callstacks = 0;
  /// Once it is set, what counts ends soon with kCancelled; null: nobody sets it.
  const std::atomic<bool>* stopped = nullptr;

  [[nodiscard]] bool is_stopped() const {
    return stopped != nullptr && stopped->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool asks_for_types() const { return by == HotSpotKind::kType || !types.empty(); }
  [[nodiscard]] bool asks_for_fields() const { return by == HotSpotKind::kField; }
};

/// Takes `field:NAME` or `label:KEY`, which rows may be besides HotSpotKind. False: it is neither.
inline bool take_keyed_grain(std::string_view word, HotSpotQuery& query) {
  for (const std::string_view start : {std::string_view("field:"), std::string_view("label:")}) {
    if (word.starts_with(start) && word.size() > start.size()) {
      query.by = HotSpotKind::kField;
      query.field = word.substr(start.size());
      query.is_label = start == "label:";
      return true;
    }
  }
  return false;
}

}  // namespace stackpack::app
