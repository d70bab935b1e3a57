// The section of fields of samples, and what sources of data say: whatever the bytes, reading ends
// well, and rows that are good come back as they were.
#include <cstddef>
#include <span>
#include <vector>

#include "fuzz/require.h"
#include "query/data_source.h"
#include "spk/format/field_codec.h"

namespace stackpack::fuzz {

void sample_fields(std::span<const std::byte> data) {
  constexpr std::uint64_t kSamples = 1'000'000;
  std::vector<FieldRow> rows;
  if (!spk::decode_fields(bytes::ByteCursor(data, 0), kSamples, rows)) {
    return;
  }
  std::uint64_t next = 0;
  for (const FieldRow& row : rows) {
    require(row.sample >= next && row.sample < kSamples);
    next = row.sample + 1;
    require(!query::DataSource(row.value(SampleField::kDataSource)).text().empty());
  }
  spk::BlockContent content;
  spk::encode_fields(rows, content);
  std::vector<std::byte> encoded;
  for (const std::span<const std::byte> part : content.parts()) {
    encoded.insert(encoded.end(), part.begin(), part.end());
  }
  std::vector<FieldRow> again;
  require(spk::decode_fields(bytes::ByteCursor(encoded, 0), kSamples, again).has_value());
  require(again == rows);
}

}  // namespace stackpack::fuzz
