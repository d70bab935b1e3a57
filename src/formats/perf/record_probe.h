// Finding the way back after a damaged record header.
//
// A record is found by the size of the one before it. Where a header is damaged, the way is lost,
// and what looks like a header further on may be anything: a stack dump can even hold old records.
// A place is taken for a record only if several records in a row begin there, each of a known type,
// with a size that its fields fill, with the id of an event where records carry one, and, if it is
// a sample, with a stack that begins at its instruction pointer.
//
// In a pipe nobody looks: the damaged bytes may have held the attribute that later samples follow,
// and samples read by the wrong attribute are invented stacks.
#pragma once

#include <cstddef>
#include <span>

#include "formats/perf/capture_context.h"
#include "formats/perf/record.h"

namespace stackpack::perf {

class RecordProbe {
 public:
  /// Bytes after a place that are looked at.
  static constexpr std::size_t kReach = std::size_t{1} << 19;

  explicit RecordProbe(const CaptureContext& context) : context_(context) {}

  /// Whether records follow each other from the start of `window`. `is_end`: the part ends with the
  /// window, so that fewer records do.
  [[nodiscard]] bool records_begin(std::span<const std::byte> window, bool is_end) const;

  /// Whether `payload`, that of a record which holds no records, ends with records that follow each
  /// other, samples among them: the size of the record has grown over them.
  /// Cost: one look at each byte.
  [[nodiscard]] bool hides_samples(bytes::ByteCursor payload) const;

  /// Whether a record of unknown type and plausible size may be passed over: a record of known
  /// type, or the end, follows it.
  [[nodiscard]] bool may_pass(const RecordHeader& header, std::span<const std::byte> window,
                              bool is_end) const;

 private:
  static constexpr int kRecordsInRow = 8;

  [[nodiscard]] bool plausible(const RecordHeader& header, bytes::ByteCursor payload) const;
  [[nodiscard]] bool plausible_sample(bytes::ByteCursor payload) const;
  [[nodiscard]] bool plausible_other(std::uint32_t type, bytes::ByteCursor payload) const;

  const CaptureContext& context_;
};

}  // namespace stackpack::perf
