#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/value_recorder.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/capture_context.h"
#include "formats/perf/sample.h"
#include "formats/perf/tracepoint_formats.h"

namespace stackpack::perf {

/// Makes values of events from the payloads of tracepoints (RAW), by the formats that the capture
/// has of them: of each the first kMostValueFields fields that are numbers, addresses or texts, but
/// those that all tracepoints have (common_...). Switches and wakings of threads are not among
/// them: intervals say the same.
///
/// Memory: the formats, and some bytes for each attribute.
class TracepointValues {
 public:
  explicit TracepointValues(capture::ValueRecorder* values) : values_(values) {}

  /// Whether anything is wanted at all.
  [[nodiscard]] bool active() const { return values_ != nullptr; }

  /// Formats of tracepoints. False: damaged.
  bool read_formats(bytes::ByteCursor tracing_data);

  /// Whether payloads of an attribute's samples are kept. `number`: of the attribute.
  [[nodiscard]] bool keeps(std::size_t number, const AttrTable::Row& row);

  /// Takes the payload of a sample, whose time is known.
  void add(std::size_t number, const AttrTable::Row& row, const SampleFields& fields,
           std::uint64_t record_offset);

  /// Reports what could not be kept. Once, at the end.
  void finish(CaptureContext& context) const;

 private:
  // What the payloads of an attribute give.
  struct Plan {
    bool looked_up = false;
    bool leaves_out = false;  // the tracepoint has more fields
    std::optional<capture::ValueKind> kind;
    std::optional<std::uint8_t> event;  // for the callstack
    std::vector<TracepointField> fields;
  };

  Plan& plan_of(std::size_t number, const AttrTable::Row& row);
  std::uint64_t value_of(const bytes::ByteCursor& payload, const TracepointField& field);

  capture::ValueRecorder* values_;
  TracepointFormats formats_;
  std::vector<Plan> plans_;  // by attribute
  Tally left_out_;
  Tally bad_;
  bool is_bad_ = false;  // the payload is too short for a field
};

/// Hands formats of tracepoints to all who want them. False: they are damaged.
bool read_formats(const CaptureContext& context, bytes::ByteCursor tracing_data);

/// Whether formats are wanted.
bool wants_formats(const CaptureContext& context);

}  // namespace stackpack::perf
