// Writes the reference workload as a capture of any size:
//
//   write_workload KIND OUT [SCALE [SEED [WANDER [LIFE]]]]      scale 1 = 21.1 million callstacks
//
// KIND: perf, perf-stream (as perf writes into a pipe; OUT may be /dev/stdout), etl,
// etl-compressed (Xpress), etl-huffman (Xpress Huffman) or etl-lznt1. Of perf and perf-stream:
// WANDER, from 0 to 1, is the chance that a function is in any of its calls, whatever its habit (of
// 1 scale 0.1 has ten million nodes); LIFE is how many callstacks a thread has before another one
// follows.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "workload/write_etl.h"
#include "workload/write_perf.h"

namespace {

using stackpack::bench::EtlPacking;

struct NamedPacking {
  std::string_view name;
  EtlPacking packing;
};
constexpr NamedPacking kPackings[] = {{"etl", EtlPacking::kNone},
                                      {"etl-compressed", EtlPacking::kXpress},
                                      {"etl-huffman", EtlPacking::kXpressHuffman},
                                      {"etl-lznt1", EtlPacking::kLznt1}};

const NamedPacking* find_packing(std::string_view name) {
  for (const NamedPacking& named : kPackings) {
    if (named.name == name) {
      return &named;
    }
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  using stackpack::bench::write_etl;
  using stackpack::bench::write_perf;
  using stackpack::bench::write_perf_stream;
  const std::string_view kind = argc > 2 ? argv[1] : "";
  stackpack::bench::WorkloadOptions options{0.1, 1};
  if (argc > 3) {
    options.scale = std::atof(argv[3]);
  }
  if (argc > 4) {
    options.seed = std::strtoull(argv[4], nullptr, 0);
  }
  if (argc > 5) {
    options.wander = std::atof(argv[5]);
  }
  if (argc > 6) {
    options.thread_life = static_cast<std::uint32_t>(std::atoi(argv[6]));
  }
  bool written = false;
  if (kind == "perf") {
    written = write_perf(options, argv[2]);
  } else if (kind == "perf-stream") {
    written = write_perf_stream(options, argv[2]);
  } else if (const auto* packing = find_packing(kind); packing != nullptr) {
    written = write_etl(options, argv[2], packing->packing);
  } else {
    std::fputs(
        "usage: write_workload perf|perf-stream|etl|etl-compressed|etl-huffman|etl-lznt1 OUT"
        " [SCALE [SEED [WANDER [LIFE]]]]\n",
        stderr);
    return 1;
  }
  if (!written) {
    std::fprintf(stderr, "cannot write %s\n", argv[2]);
    return 4;
  }
  return 0;
}
