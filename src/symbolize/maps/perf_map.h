#pragma once

#include <cstddef>
#include <cstdint>

#include "io/byte_source.h"
#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/maps/latest_ranges.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// Code that a process made at run time, as it lists it in perf-PID.map.
///
/// Lines: `START SIZE NAME`, both numbers hexadecimal, blanks in the name. They have no times: a
/// later line takes the addresses that it covers from earlier ones, which is counted, and may be
/// wrong for samples taken before.
/// Memory: some 60 bytes a line, and the names.
class PerfMap {
 public:
  /// Errors: kCorrupt when there are lines and none is code; kLimit; kIo.
  static Result<PerfMap> read(io::ByteSource& source);

  /// Adds a row for what is left of each line that has an address of the request, with the owner,
  /// place and life of `owner`, and source kPerfMap.
  void name(const SymbolRequest& request, const CodeRange& owner, NameCollector& names) const;

  [[nodiscard]] std::size_t lines() const { return texts_.size(); }
  /// Lines whose code lies on bytes of an earlier one.
  [[nodiscard]] std::uint64_t reused() const { return reused_; }
  [[nodiscard]] std::uint64_t unread_lines() const { return unread_lines_; }

 private:
  TextTable texts_;  // by line
  LatestRanges ranges_;
  std::uint64_t reused_ = 0;
  std::uint64_t unread_lines_ = 0;
};

}  // namespace stackpack::symbolize
