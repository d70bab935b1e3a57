#include "benchmarks.h"

#include <array>
#include <utility>

namespace stackpack::bench {

const StackStream& input_stream(const Settings& settings) {
  static const StackStream kStream = [&] {
    if (settings.perf_path.empty()) {
      return workload_stream(settings.workload);
    }
    StackStream stream;
    return perf_stream(settings.perf_path, stream) ? std::move(stream) : StackStream();
  }();
  return kStream;
}

std::span<const Benchmark> benchmarks() {
  static constexpr std::array<Benchmark, 4> kTable{{
      {"workload", "statistics of the input stream", bench_workload},
      {"builder", "interning, against other designs", bench_builder},
      {"freeze", "canonical order", bench_freeze},
      {"segments", "interning within a memory limit, and merging", bench_segments},
  }};
  return kTable;
}

}  // namespace stackpack::bench
