#pragma once

#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/read/sample_columns_decoder.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Decodes bodies into whole samples: a thin layer over columns. Keeps its scratch between calls.
/// Threads: one at a time.
class SampleBlockDecoder {
 public:
  /// In which order samples are wanted: that of the capture, or that in which they are stored,
  /// processor by processor, which costs less.
  enum class Order : std::uint8_t { kCapture, kStored };

  /// Replaces `samples` by those of the block. Every id in it must be below `bounds`.
  /// Errors: kCorrupt.
  Status decode(bytes::ByteCursor in, const SampleHead& head, const SampleBounds& bounds,
                Order order, std::vector<StoredSample>& samples);

 private:
  SampleColumnsDecoder columns_;
};

inline Status SampleBlockDecoder::decode(bytes::ByteCursor in, const SampleHead& head,
                                         const SampleBounds& bounds, Order order,
                                         std::vector<StoredSample>& samples) {
  if (const Status decoded =
          columns_.decode(in, head, bounds, kAllSampleColumns, order == Order::kCapture);
      !decoded) {
    return decoded;
  }
  samples.resize(columns_.rows());
  columns_.copy(samples);
  return {};
}

}  // namespace stackpack::spk
