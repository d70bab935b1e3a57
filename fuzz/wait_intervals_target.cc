// Blocks of intervals: what is decoded keeps to its bounds and comes back when it is encoded.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "fuzz/require.h"
#include "spk/format/interval_codec.h"
#include "spk/format/layout.h"

namespace stackpack::fuzz {

namespace {

std::vector<std::byte> joined(const spk::BlockContent& content) {
  std::vector<std::byte> whole;
  for (const auto part : content.parts()) {
    whole.insert(whole.end(), part.begin(), part.end());
  }
  return whole;
}

}  // namespace

void wait_intervals(std::span<const std::byte> data) {
  constexpr spk::IntervalBounds kBounds{100, 10};
  std::vector<WaitInterval> rows;
  if (spk::decode_intervals(bytes::ByteCursor(data, 0), kBounds, rows)) {
    require(!rows.empty() && rows.size() <= spk::kIntervalsPerBlock);
    for (const WaitInterval& row : rows) {
      require(row.from_ns <= row.to_ns && row.reason < kBounds.reasons);
      require(row.stack == kNoStack || row.stack < kBounds.stacks);
      require(row.waker_stack == kNoStack || row.waker_stack < kBounds.stacks);
    }
    spk::BlockContent content;
    spk::encode_intervals(rows, content);
    std::vector<WaitInterval> again;
    const std::vector<std::byte> encoded = joined(content);
    require(spk::decode_intervals(bytes::ByteCursor(encoded, 0), kBounds, again).has_value());
    require(again == rows);
  }
  std::vector<std::string> reasons;
  if (spk::decode_wait_reasons(bytes::ByteCursor(data, 0), reasons)) {
    spk::BlockContent content;
    spk::encode_wait_reasons(reasons, content);
    std::vector<std::string> again;
    const std::vector<std::byte> encoded = joined(content);
    require(spk::decode_wait_reasons(bytes::ByteCursor(encoded, 0), again).has_value());
    require(again == reasons);
  }
}

}  // namespace stackpack::fuzz
