#pragma once

#include <span>
#include <string>

#include "stack_stream.h"
#include "workload/workload.h"

namespace stackpack::bench {

struct Settings {
  WorkloadOptions workload{0.25, 1};
  std::string perf_path;  ///< read this capture instead of the workload, unless empty
  std::string spk_path;   ///< or this .spk file
  unsigned repeat = 5;
};

/// The stream that the settings ask for; made once and kept. Empty when there is none.
const StackStream& input_stream(const Settings& settings);

struct Benchmark {
  const char* name;
  const char* what;
  bool (*run)(const Settings&);  ///< prints its table; false when a result was wrong
};

std::span<const Benchmark> benchmarks();

bool bench_workload(const Settings& settings);
bool bench_builder(const Settings& settings);
bool bench_freeze(const Settings& settings);
bool bench_segments(const Settings& settings);
bool bench_pages(const Settings& settings);
bool bench_encodings(const Settings& settings);
bool bench_samples(const Settings& settings);
bool bench_decode(const Settings& settings);
bool bench_cold(const Settings& settings);
bool bench_stats(const Settings& settings);
bool bench_arrow(const Settings& settings);
bool bench_columns(const Settings& settings);

}  // namespace stackpack::bench
