// Speed of the three decompressions of .etl buffers, in bytes of output.
//
// Content: buffers of 64 KiB as a kernel session fills them (profile samples and their callstacks),
// made with a fixed seed; or, with STACKPACK_BENCH_ETL set to an uncompressed .etl file, that
// file's buffers. Each decoder first proves that it gives the content back.
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "formats/etl/codec/lznt1.h"
#include "formats/etl/codec/xpress_huffman.h"
#include "formats/etl/codec/xpress_plain.h"
#include "support/lz_compressors.h"
#include "support/test_bytes.h"

namespace stackpack {
namespace {

using Bytes = std::vector<std::byte>;
using Decode = etl::DecodeOutcome (*)(std::span<const std::byte>, std::span<std::byte>,
                                      std::size_t);
using Compress = Bytes (*)(std::span<const std::byte>);

constexpr std::size_t kBufferBytes = 65536 - 0x48;

std::vector<Bytes> synthetic_buffers() {
  std::mt19937_64 random(20200101);
  std::vector<std::vector<std::uint64_t>> stacks(400);
  for (auto& stack : stacks) {
    const std::uint64_t depth = 5 + random() % 40;
    for (std::uint64_t i = 0; i < depth; ++i) {
      const std::uint64_t low = (random() % 4000) * 37;
      stack.push_back(i < 6 ? 0xFFFFF80123000000 + low : 0x7FF812340000 + low);
    }
  }
  std::vector<Bytes> buffers;
  std::uint64_t clock = 1'000'000'000;
  while (buffers.size() < 64) {
    test::TestBytes events;
    for (;;) {
      const auto& stack = stacks[random() % stacks.size()];
      if (events.bytes.size() + 0x40 + 8 * stack.size() > kBufferBytes) {
        break;
      }
      clock += 900 + random() % 200;
      const auto tid = static_cast<std::uint32_t>(1000 + 4 * (random() % 30));
      events.u32(0xC0110002).u16(0x20).u8(46).u8(15).u64(clock).u64(stack.front());
      events.u32(tid).u32(0x00580001);
      events.u32(0xC0110002).u16(static_cast<std::uint16_t>(0x20 + 8 * stack.size()));
      events.u8(32).u8(24).u64(clock + 7).u64(clock).u32(400).u32(tid);
      for (const std::uint64_t frame : stack) {
        events.u64(frame);
      }
    }
    buffers.push_back(std::move(events.bytes));
  }
  return buffers;
}

std::vector<Bytes> file_buffers(const char* path) {
  const Bytes file = test::read_test_file(path);
  std::vector<Bytes> buffers;
  for (std::size_t at = 0; at + 0x48 < file.size();) {
    std::uint32_t fields[2] = {};
    std::memcpy(fields, file.data() + at, sizeof fields);
    if (fields[0] < 0x48 || fields[0] > file.size() - at) {
      break;
    }
    if (fields[1] > 0x48 && fields[1] <= fields[0]) {
      buffers.emplace_back(file.begin() + static_cast<std::ptrdiff_t>(at + 0x48),
                           file.begin() + static_cast<std::ptrdiff_t>(at + fields[1]));
    }
    at += fields[0];
  }
  return buffers;
}

const std::vector<Bytes>& content() {
  static const std::vector<Bytes> buffers = [] {
    const char* path = std::getenv("STACKPACK_BENCH_ETL");
    return path != nullptr ? file_buffers(path) : synthetic_buffers();
  }();
  return buffers;
}

void decode_all(benchmark::State& state, Compress compress, Decode decode) {
  std::vector<Bytes> packed;
  std::size_t total = 0;
  std::size_t packed_total = 0;
  Bytes out;
  for (const Bytes& buffer : content()) {
    packed.push_back(compress(buffer));
    total += buffer.size();
    packed_total += packed.back().size();
    out.resize(std::max(out.size(), buffer.size() + etl::kDecodeSlack));
    const etl::DecodeOutcome outcome = decode(packed.back(), out, buffer.size());
    if (outcome.produced != buffer.size() || outcome.end != etl::DecodeEnd::kComplete ||
        !std::equal(buffer.begin(), buffer.end(), out.begin())) {
      state.SkipWithError("the decoder does not give the content back");
      return;
    }
  }
  for ([[maybe_unused]] const auto& iteration : state) {
    for (std::size_t i = 0; i < packed.size(); ++i) {
      benchmark::DoNotOptimize(decode(packed[i], out, content()[i].size()));
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(total) *
                          static_cast<std::int64_t>(state.iterations()));
  state.counters["ratio"] = static_cast<double>(total) / static_cast<double>(packed_total);
}

BENCHMARK_CAPTURE(decode_all, xpress_plain, test::compress_xpress_plain, etl::decode_xpress_plain);
BENCHMARK_CAPTURE(decode_all, xpress_huffman, test::compress_xpress_huffman,
                  etl::decode_xpress_huffman);
BENCHMARK_CAPTURE(decode_all, lznt1, test::compress_lznt1, etl::decode_lznt1);

}  // namespace
}  // namespace stackpack

BENCHMARK_MAIN();
