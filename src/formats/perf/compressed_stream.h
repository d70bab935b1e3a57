// Compressed records: one zstd stream for all of them.
//
// `perf record -z` runs one compressor over everything that one thread of the recorder writes. Each
// COMPRESSED record holds the next piece of its output: flushed, never ended, and cut with no
// regard to the records inside, which may begin in one piece and end in the next. So the decoder
// lives as long as the part of the capture does, and what it gives is walked with the tail carried
// over.
//
// The stream has no checksums. When the decoder reports damage, or what it gives is not a record,
// nothing after that place can be trusted or decoded; the rest of the part's compressed records is
// counted as unread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/zstd_codec.h"
#include "formats/perf/capture_context.h"
#include "formats/perf/record_converter.h"
#include "stackpack/result.h"

namespace stackpack::perf {

class CompressedStream {
 public:
  CompressedStream(CaptureContext& context, RecordConverter& converter)
      : context_(context), converter_(converter) {}

  /// Decodes the next piece and converts the records in it. `offset` is that of the compressed
  /// record, for messages.
  /// Result: nothing when the piece was decoded, else why it was not; an error only from the sink.
  Result<std::optional<capture::SkipReason>> feed(std::span<const std::byte> piece,
                                                  std::uint64_t offset);

  /// The last piece was fed: counts a record of which only a part came, and a block that the stream
  /// left open. A recorder flushes what it writes, so that the last piece ends with a block; a size
  /// of a block or of a record that has become wrong makes the decoder wait for bytes that never
  /// come, and nothing of them comes out.
  void finish();

  /// Whether any piece was fed.
  [[nodiscard]] bool used() const { return used_; }

  /// Pieces were lost: those to come cannot be decoded.
  void break_off() { broken_ = true; }

 private:
  Result<bool> convert_records(std::uint64_t offset);

  // What one step decodes at most: small enough to stay in the cache while it is converted.
  static constexpr std::size_t kStepBytes = std::size_t{1} << 16;

  CaptureContext& context_;
  RecordConverter& converter_;
  codec::ZstdStream zstd_;
  std::vector<std::byte> decoded_;  // begins with the tail of the last piece
  std::uint64_t last_offset_ = 0;
  bool used_ = false;
  bool broken_ = false;
};

}  // namespace stackpack::perf
