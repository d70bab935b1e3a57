// stackpack_bench: named benchmarks.
//
//   stackpack_bench [NAME...] [--scale S] [--seed N] [--repeat N] [--perf FILE | --spk FILE]
//
// Each proves that its results are right before it prints a time, and runs all variants in turn,
// again and again, so that a busy machine slows them alike. Read the ratios.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "benchmarks.h"

namespace {

constexpr std::string_view kUsage =
    "usage: stackpack_bench [NAME...] [--scale S] [--seed N] [--repeat N] [--perf FILE | --spk "
    "FILE]\n"
    "  --scale S   size of the reference workload, 1 = 21.1 million callstacks (default 0.25)\n"
    "  --perf FILE callstacks of a perf.data file instead of the workload\n"
    "  --spk FILE  callstacks of a .spk file instead of the workload\n"
    "names:\n";

int usage() {
  std::fputs(kUsage.data(), stderr);
  for (const stackpack::bench::Benchmark& benchmark : stackpack::bench::benchmarks()) {
    std::fprintf(stderr, "  %-12s %s\n", benchmark.name, benchmark.what);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  stackpack::bench::Settings settings;
  std::vector<std::string_view> names;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, 2) != "--") {
      names.push_back(argument);
      continue;
    }
    if (i + 1 == argc) {
      return usage();
    }
    const char* const value = argv[++i];
    if (argument == "--scale") {
      settings.workload.scale = std::atof(value);
    } else if (argument == "--seed") {
      settings.workload.seed = std::strtoull(value, nullptr, 0);
    } else if (argument == "--perf") {
      settings.perf_path = value;
    } else if (argument == "--spk") {
      settings.spk_path = value;
    } else if (argument == "--repeat") {
      settings.repeat = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
    } else {
      return usage();
    }
  }
  for (const std::string_view name : names) {
    bool known = false;
    for (const stackpack::bench::Benchmark& benchmark : stackpack::bench::benchmarks()) {
      known = known || name == benchmark.name;
    }
    if (!known) {
      return usage();
    }
  }
  if (stackpack::bench::input_stream(settings).size() == 0) {
    std::fputs("no callstacks in the input\n", stderr);
    return 2;
  }
  for (const stackpack::bench::Benchmark& benchmark : stackpack::bench::benchmarks()) {
    bool chosen = names.empty();
    for (const std::string_view name : names) {
      chosen = chosen || name == benchmark.name;
    }
    if (chosen) {
      std::printf("== %s: %s\n", benchmark.name, benchmark.what);
      if (!benchmark.run(settings)) {
        std::printf("WRONG RESULT in %s\n", benchmark.name);
        return 1;
      }
      std::printf("\n");
    }
  }
  return 0;
}
