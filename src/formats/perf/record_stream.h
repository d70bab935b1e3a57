// The records of one file, pipe or part of a directory, in the order in which they were written.
//
// A record begins with its size, and the next one follows. Three kinds do not fit in: TRACING_DATA
// and AUXTRACE have a payload after the record that their size does not count, and compressed
// records hold further records (compressed_stream.h).
//
// Writers of COMPRESSED2 had a fault: where a piece of compressed data came near to 64 KiB or went
// beyond, the size in the header, which has 16 bits, wrapped around, while the record's own
// data_size stayed right. Such a record is taken by its data_size if what then follows fits.
#pragma once

#include <cstdint>
#include <span>

#include "formats/perf/capture_context.h"
#include "formats/perf/compressed_stream.h"
#include "formats/perf/record_converter.h"
#include "formats/perf/record_probe.h"
#include "io/buffered_reader.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// What the bytes of a stream are bounded by.
enum class StreamKind : std::uint8_t {
  kSection,      ///< a data section: it ends after a record, where the header says
  kOpenSection,  ///< to the end of a file that may be cut, or whose writer was killed
  kPipe,         ///< to the end of input; the attributes are among the records
};

class RecordStream {
 public:
  RecordStream(StreamKind kind, CaptureContext& context, RecordConverter& converter)
      : kind_(kind),
        context_(context),
        converter_(converter),
        compressed_(context, converter),
        probe_(context) {}

  /// Converts records until `most` bytes are passed, or all. `reader` stands at the first record,
  /// after a call that left some at the next one, and ends with the stream.
  /// Every byte up to there is counted in the context's account.
  /// Result: whether no record is left. Errors: from the reader and from the sink, kCancelled;
  /// damage is counted.
  Result<bool> run(io::BufferedReader& reader, std::uint64_t most = ~std::uint64_t{0});

 private:
  enum class Step : std::uint8_t { kGoOn, kEnd };

  Status refill(std::size_t size);
  Result<Step> step();
  Result<Step> take_record(const RecordHeader& header, std::span<const std::byte> window);
  Result<Step> take_unknown(const RecordHeader& header, std::span<const std::byte> window);
  Result<Step> take_simpleperf(const RecordHeader& header, std::span<const std::byte> window);
  Result<Step> take_compressed2(const RecordHeader& header, std::span<const std::byte> window);
  Result<Step> take_overflown(std::uint64_t total, std::span<const std::byte> window);
  [[nodiscard]] bool overflow_fits(std::uint64_t total, std::span<const std::byte> window) const;
  void read_formats_inside(const Record& record) const;
  Status feed_compressed(std::span<const std::byte> piece, std::size_t record_bytes);
  Result<Step> take_outside_payload(const Record& record, std::uint64_t payload_bytes,
                                    capture::SkipReason reason);
  Result<Step> take_tracing_data(const Record& record, std::uint64_t payload_bytes);

  Result<Step> find_records();
  Result<Step> take_cut_record(std::span<const std::byte> window);
  Result<Step> take_text(std::span<const std::byte> window);
  Result<Step> skip_rest(capture::SkipReason reason);
  Status skip_damaged(std::size_t bytes);

  // Enough to see a record of the largest size and the header of the next.
  static constexpr std::size_t kLookAhead = std::size_t{1} << 17;

  io::BufferedReader* reader_ = nullptr;  // of the call of run()
  StreamKind kind_;
  CaptureContext& context_;
  RecordConverter& converter_;
  CompressedStream compressed_;
  RecordProbe probe_;
  bool at_end_ = false;  // the window holds all that is left
};

}  // namespace stackpack::perf
