#pragma once

#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "formats/perf/attr.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/capture_context.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/record.h"
#include "formats/perf/sample.h"
#include "stackpack/sample_fields.h"

namespace stackpack::perf {

/// Fields of SAMPLE that are kept with it.
inline constexpr std::uint64_t kFieldsWithSample =
    sample_bit::kAddr | sample_bit::kWeight | sample_bit::kWeightStruct | sample_bit::kDataSrc |
    sample_bit::kTransaction | sample_bit::kPhysAddr | sample_bit::kCgroup |
    sample_bit::kDataPageSize | sample_bit::kCodePageSize;

/// Their values; of the control group its id. `fields` are those of the sample with this payload,
/// which was read without an overrun. WEIGHT_STRUCT is {u32 var1, u16 var2, u16 var3}, which the
/// kernel declares so that the number of 64 bits is the same in both byte orders, and so is
/// DATA_SRC. Source: linux/perf_event.h, union perf_sample_weight, union perf_mem_data_src.
FieldRow read_kept_fields(bytes::ByteCursor payload, const SampleLayout& layout,
                          const SampleFields& fields);

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
