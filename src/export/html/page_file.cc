#include "export/html/page_file.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "codec/gzip_codec.h"
#include "export/html/base64_output.h"
#include "export/html/page_data.h"
#include "export/html/page_program.h"

namespace stackpack::exporting {

Status write_page(const PageContent& content, ExportOutput& out) {
  // Level 9 takes five times as long for a fiftieth less.
  constexpr int kLevel = 7;
  constexpr std::size_t kStep = std::size_t{1} << 16;
  out.write(page_before_data());
  Base64Output text(out);
  codec::GzipCompressor gzip(kLevel);
  std::vector<std::byte> packed;
  const Status encoded = encode_page(content, [&](std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto step = bytes.first(std::min(kStep, bytes.size()));
      packed.clear();
      gzip.append(step, packed);
      text.write(packed);
      bytes = bytes.subspan(step.size());
    }
    return out.status();
  });
  if (!encoded) {
    return encoded;
  }
  packed.clear();
  gzip.finish(packed);
  text.write(packed);
  text.finish();
  out.write(page_after_data());
  return out.status();
}

}  // namespace stackpack::exporting
