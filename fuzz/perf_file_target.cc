// The input is a capture in whatever container its header says.
#include <cstddef>
#include <span>

#include "fuzz/perf_fuzz_sink.h"

namespace stackpack::fuzz {

void perf_file(std::span<const std::byte> data);

void perf_file(std::span<const std::byte> data) {
  PerfFuzzSink sink;
  read_perf(io::source_of_memory(data), data.size(), sink);
  sink.finish_branches();
}

}  // namespace stackpack::fuzz
