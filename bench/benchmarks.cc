#include "benchmarks.h"

#include <array>
#include <utility>

namespace stackpack::bench {

const StackStream& input_stream(const Settings& settings) {
  static const StackStream kStream = [&] {
    if (settings.perf_path.empty() && settings.spk_path.empty()) {
      return workload_stream(settings.workload);
    }
    StackStream stream;
    const bool read = settings.spk_path.empty() ? perf_stream(settings.perf_path, stream)
                                                : spk_stream(settings.spk_path, stream);
    return read ? std::move(stream) : StackStream();
  }();
  return kStream;
}

std::span<const Benchmark> benchmarks() {
  static constexpr std::array<Benchmark, 12> kTable{{
      {"workload", "statistics of the input stream", bench_workload},
      {"builder", "interning, against other designs", bench_builder},
      {"freeze", "canonical order", bench_freeze},
      {"segments", "interning within a memory limit, and merging", bench_segments},
      {"pages", "bytes per node of page layouts, on disk and resident", bench_pages},
      {"encodings", "the distinct callstacks in other formats", bench_encodings},
      {"samples", "the sample stream, against other codings", bench_samples},
      {"decode", "id to callstack, resident", bench_decode},
      {"cold", "id to callstack, its page not in memory", bench_cold},
      {"stats", "opening a file for its statistics", bench_stats},
      {"arrow", "samples as an Arrow stream", bench_arrow},
      {"columns", "decoding columns of samples, and what each takes", bench_columns},
  }};
  return kTable;
}

}  // namespace stackpack::bench
