// The input is records as they are inside of compressed ones. They are compressed in pieces, whose
// size the first byte gives, and wrapped into a pipe: the fuzzer need not learn zstd.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/perf/record.h"
#include "fuzz/perf_fuzz_sink.h"
#include "support/perf_writer.h"

namespace stackpack::fuzz {

void perf_compressed(std::span<const std::byte> data);

void perf_compressed(std::span<const std::byte> data) {
  if (data.empty()) {
    return;
  }
  const auto choice = static_cast<unsigned>(data.front());
  const std::size_t piece_bytes = 1 + std::size_t{choice >> 1} * 37;
  const std::span<const std::byte> records =
      data.subspan(1, std::min<std::size_t>(data.size() - 1, 1U << 16));

  const test::PerfWriter writer;
  test::EndlessCompressor zstd;
  std::vector<test::TestBytes> wrapped;
  for (std::size_t at = 0; at < records.size(); at += piece_bytes) {
    const auto piece = zstd.piece(records.subspan(at, std::min(piece_bytes, records.size() - at)));
    test::TestBytes payload;
    if ((choice & 1) != 0) {
      payload.u64(piece.size()).append(piece).pad_to(8);
      wrapped.push_back(writer.record(perf::RecordType::kCompressed2, 0, payload));
    } else {
      payload.append(piece);
      wrapped.push_back(writer.record(perf::RecordType::kCompressed, 0, payload));
    }
  }
  const auto capture = writer.pipe({test::TestAttr{}}, wrapped);
  PerfFuzzSink sink;
  read_perf(io::source_of_memory(capture), capture.size(), sink);
}

}  // namespace stackpack::fuzz
