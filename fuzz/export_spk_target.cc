// The input is a .spk file: every exporter ends well on it, whatever its tables say, and one that
// verifies can be exported.
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>

#include <unistd.h>

#include "stackpack/export.h"
#include "stackpack/reader.h"

namespace stackpack::fuzz {

void export_spk(std::span<const std::byte> data);

void export_spk(std::span<const std::byte> data) {
  const auto reader = Reader::open_memory(data, {1U << 16});
  if (!reader) {
    return;
  }
  const bool good = (*reader)->verify().has_value();
  static const std::string base =
      std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/stackpack-export-" +
      std::to_string(::getpid());
  for (const ExportFormat format :
       {ExportFormat::kFolded, ExportFormat::kPprof, ExportFormat::kSpeedscope,
        ExportFormat::kFirefox, ExportFormat::kOtlp, ExportFormat::kHtml,
        ExportFormat::kCpuprofile}) {
    ExportOptions options;
    options.format = format;
    options.memory_limit = 1U << 16;
    options.folded.root = FoldedRoot::kThread;
    options.force = true;
    const auto done = export_capture(**reader, base, options);
    if (good && !done && done.error().code != ErrorCode::kUsage) {
      std::abort();
    }
  }
  ::unlink(base.c_str());
}

}  // namespace stackpack::fuzz
