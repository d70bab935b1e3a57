#include "spk/read/sample_block_decoder.h"

namespace stackpack::spk {

Status SampleBlockDecoder::decode(bytes::ByteCursor in, const SampleHead& head,
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
