#include "app/convert/capture_probe.h"

#include <memory>
#include <vector>

#include "app/convert/archive_members.h"
#include "app/convert/capture_formats.h"
#include "app/convert/capture_head.h"
#include "io/byte_source.h"

namespace stackpack::app {

bool looks_like_capture(const std::string& path) {
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_source(path);
  if (!source) {
    return source.error().code == ErrorCode::kUnsupported && open_directory(path).has_value();
  }
  if ((*source)->seekable()) {
    const Result<std::unique_ptr<CaptureArchive>> archive = CaptureArchive::open(**source);
    if (!archive || *archive != nullptr) {
      return archive.has_value() && (*archive)->count() != 0;
    }
  }
  const Result<std::vector<std::byte>> head = read_head(**source);
  if (!head) {
    return false;
  }
  const codec::FileCompression compression = compression_around(*head, {});
  if (compression == codec::FileCompression::kGzip ||
      compression == codec::FileCompression::kZstd) {
    return format_of(codec::decompressed_head(*head, compression, detect_bytes())) != nullptr;
  }
  return format_of(*head) != nullptr;
}

}  // namespace stackpack::app
