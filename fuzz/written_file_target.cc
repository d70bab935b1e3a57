// The input is a capture of any format: what convert writes of it, verify accepts.
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>

#include <unistd.h>

#include "io/output_file.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"

namespace stackpack::fuzz {

void written_file(std::span<const std::byte> data);

void written_file(std::span<const std::byte> data) {
  static const std::string base =
      std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/stackpack-written-" +
      std::to_string(::getpid());
  const std::string input = base + ".capture";
  const std::string output = base + ".spk";
  io::OutputRules rules;
  rules.force = true;
  const auto capture = io::OutputFile::create(input, rules);
  if (!capture || !(*capture)->write(data) || !(*capture)->commit()) {
    return;
  }
  ConvertOptions options;
  options.force = true;
  options.encoders = 0;
  if (convert(input, output, options, nullptr)) {
    const auto reader = Reader::open(output);
    if (!reader || !(*reader)->verify()) {
      std::abort();
    }
  }
  ::unlink(input.c_str());
  ::unlink(output.c_str());
}

}  // namespace stackpack::fuzz
