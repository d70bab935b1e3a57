// The input is a sample block; what decodes must come back from an encoder.
//
//   u16 samples, u16 bytes of the head, the head, the body
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/read/sample_block_decoder.h"
#include "spk/write/sample_block_encoder.h"

namespace stackpack::fuzz {

void spk_samples(std::span<const std::byte> data);

namespace {

constexpr std::uint64_t kStacks = 1'000;
constexpr std::uint64_t kEvents = 3;

using Samples = std::vector<StoredSample>;

bool decode(bytes::ByteCursor head_bytes, bytes::ByteCursor body, std::uint32_t count,
            Samples& samples) {
  spk::SampleHead head;
  if (!spk::decode_sample_head(head_bytes, count, head)) {
    return false;
  }
  spk::SampleBlockDecoder decoder;
  return decoder
      .decode(body, head, {kStacks, kEvents}, spk::SampleBlockDecoder::Order::kCapture, samples)
      .has_value();
}

// Each column alone is what it is among all.
void compare_columns(const spk::SampleHead& head, bytes::ByteCursor body, const Samples& samples) {
  spk::SampleColumnsDecoder decoder;
  for (std::uint32_t column = 1; column < kAllSampleColumns; column *= 2) {
    if (!decoder.decode(body, head, {kStacks, kEvents}, column, true)) {
      std::abort();
    }
    std::vector<std::uint64_t> longs(samples.size());
    std::vector<std::uint32_t> ids(samples.size());
    std::vector<std::uint8_t> flags(samples.size());
    std::vector<StackOrigin> origins(samples.size());
    decoder.copy(0, samples.size(), column,
                 {longs.data(), ids.data(), ids.data(), ids.data(), ids.data(), longs.data(),
                  origins.data(), flags.data(), ids.data()});
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const StoredSample& sample = samples[i];
      const bool same = column == kTimeColumn     ? longs[i] == sample.time_ns
                        : column == kPidColumn    ? ids[i] == sample.pid
                        : column == kTidColumn    ? ids[i] == sample.tid
                        : column == kCpuColumn    ? ids[i] == sample.cpu
                        : column == kEventColumn  ? ids[i] == sample.event
                        : column == kWeightColumn ? longs[i] == sample.weight
                        : column == kOriginColumn ? origins[i] == sample.origin
                        : column == kFlagsColumn  ? flags[i] == sample.flags
                                                  : ids[i] == sample.stack;
      if (!same) {
        std::abort();
      }
    }
  }
}

}  // namespace

void spk_samples(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  const std::uint32_t count = in.read<std::uint16_t>();
  const bytes::ByteCursor head = in.sub(in.read<std::uint16_t>());
  Samples samples;
  if (count == 0 || !in.ok() || !decode(head, bytes::ByteCursor(in.rest(), 0), count, samples)) {
    return;
  }
  spk::SampleHead decoded_head;
  if (!spk::decode_sample_head(head, count, decoded_head)) {
    std::abort();
  }
  compare_columns(decoded_head, bytes::ByteCursor(in.rest(), 0), samples);
  spk::SampleBlockEncoder encoder;
  spk::BlockContent new_head;
  spk::BlockContent new_body;
  encoder.encode(samples, new_head, new_body);
  Samples again;
  if (samples.size() != count ||
      !decode(bytes::ByteCursor(new_head.bytes().bytes(), 0),
              bytes::ByteCursor(new_body.bytes().bytes(), 0), count, again) ||
      samples != again) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
