// Writes the reference workload as a capture of any size:
//
//   write_workload perf|etl|etl-compressed OUT [SCALE [SEED]]      scale 1 = 21.1 million
//   callstacks
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "workload/write_etl.h"
#include "workload/write_perf.h"

int main(int argc, char** argv) {
  using stackpack::bench::write_etl;
  using stackpack::bench::write_perf;
  const std::string_view kind = argc > 2 ? argv[1] : "";
  stackpack::bench::WorkloadOptions options{0.1, 1};
  if (argc > 3) {
    options.scale = std::atof(argv[3]);
  }
  if (argc > 4) {
    options.seed = std::strtoull(argv[4], nullptr, 0);
  }
  bool written = false;
  if (kind == "perf") {
    written = write_perf(options, argv[2]);
  } else if (kind == "etl" || kind == "etl-compressed") {
    written = write_etl(options, argv[2], kind != "etl");
  } else {
    std::fputs("usage: write_workload perf|etl|etl-compressed OUT [SCALE [SEED]]\n", stderr);
    return 1;
  }
  if (!written) {
    std::fprintf(stderr, "cannot write %s\n", argv[2]);
    return 4;
  }
  return 0;
}
