// A sample as a reader gives it in columns.
#pragma once

#include <cstdint>
#include <span>

#include "stackpack/model.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::test {

/// A sample as columns of one row, which refer to it. A column that was not asked for is empty.
inline SampleColumns columns_of(const StoredSample& sample, std::uint32_t columns) {
  SampleColumns row;
  row.rows = 1;
  const auto give = [columns](SampleColumn column, auto& values, const auto& value) {
    if ((columns & column) != 0) {
      values = std::span(&value, 1);
    }
  };
  give(kTimeColumn, row.time_ns, sample.time_ns);
  give(kPidColumn, row.pid, sample.pid);
  give(kTidColumn, row.tid, sample.tid);
  give(kCpuColumn, row.cpu, sample.cpu);
  give(kEventColumn, row.event, sample.event);
  give(kWeightColumn, row.weight, sample.weight);
  give(kOriginColumn, row.origin, sample.origin);
  give(kFlagsColumn, row.flags, sample.flags);
  give(kStackColumn, row.stack, sample.stack);
  return row;
}

}  // namespace stackpack::test
