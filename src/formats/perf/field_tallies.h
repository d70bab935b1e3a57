#pragma once

#include <cstdint>
#include <vector>

#include "formats/perf/attr_table.h"
#include "formats/perf/capture_context.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/record.h"
#include "formats/perf/sample.h"

namespace stackpack::perf {

/// Counts samples with fields that are not kept (AttrTable::Row::not_kept), by attribute, and the
/// bytes of those fields. Samples of attributes without any cost nothing.
class FieldTallies {
 public:
  /// `fields` are those of `record`, a sample of `row` of `context.attrs`.
  void add(const CaptureContext& context, const AttrTable::Row& row, const Record& record,
           const SampleFields& fields);

  /// Raises the notices, and moves the bytes in the account. Once, at the end.
  void report(CaptureContext& context) const;

 private:
  struct Samples {
    Tally all;
    Tally exact_ips;
    Tally multiplexed;
  };

  std::vector<Samples> samples_;  // by attribute
  std::uint64_t bytes_ = 0;
};

}  // namespace stackpack::perf
