// Converts a capture and counts the samples of what came out, through the installed headers alone.
#include <cstdio>
#include <memory>

#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "stackpack/version.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    return 1;
  }
  const stackpack::Result<stackpack::ConvertReport> report =
      stackpack::convert(argv[1], argv[2], {}, nullptr);
  if (!report) {
    std::fprintf(stderr, "convert: %.*s\n", static_cast<int>(report.error().what.size()),
                 report.error().what.data());
    return 1;
  }
  const stackpack::Result<std::unique_ptr<stackpack::Reader>> reader =
      stackpack::Reader::open(argv[2]);
  if (!reader) {
    return 1;
  }
  std::uint64_t samples = 0;
  const stackpack::Status read =
      (*reader)->samples({}, [&samples](std::span<const stackpack::StoredSample> block) {
        samples += block.size();
        return true;
      });
  std::printf("stackpack %s: %llu samples\n", STACKPACK_VERSION,
              static_cast<unsigned long long>(samples));
  return read && samples == (*reader)->statistics().samples.total && samples > 0 ? 0 : 1;
}
