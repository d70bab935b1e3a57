// Converts a capture, and says what was lost on the way.
//
//   convert_capture CAPTURE OUT.spk
//
// Build: c++ -std=c++20 convert_capture.cc $(pkg-config --cflags --libs stackpack)
#include <cstdio>

#include "stackpack/convert.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CAPTURE OUT.spk\n", argv[0]);
    return 1;
  }
  stackpack::ConvertOptions options;
  options.memory_limit = std::uint64_t{256} << 20;
  const auto report = stackpack::convert(argv[1], argv[2], options, nullptr);
  if (!report) {
    std::fprintf(stderr, "%s: %s\n", argv[1], message(report.error()).c_str());
    return 2;
  }
  std::printf("%llu samples, %llu callstacks, %llu bytes\n",
              static_cast<unsigned long long>(report->statistics.samples.total),
              static_cast<unsigned long long>(report->statistics.callstacks.stored),
              static_cast<unsigned long long>(report->output_bytes));
  for (const stackpack::LossCounter& loss : report->statistics.losses) {
    if (loss.count > 0 && loss.kind != stackpack::LossKind::kNotice) {
      std::printf("lost: %s %llu\n", loss.name.c_str(),
                  static_cast<unsigned long long>(loss.count));
    }
  }
  return report->lossy ? 3 : 0;
}
