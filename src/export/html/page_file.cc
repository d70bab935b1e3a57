#include "export/html/page_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "codec/gzip_codec.h"
#include "export/html/page_data.h"

namespace stackpack::exporting {

void Base64Output::put_group() {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr unsigned kDigitBits = 6;
  const std::uint32_t bits = std::to_integer<std::uint32_t>(group_[0]) << 16 |
                             std::to_integer<std::uint32_t>(group_[1]) << 8 |
                             std::to_integer<std::uint32_t>(group_[2]);
  for (unsigned i = 0; i < 4; ++i) {
    // n bytes are n + 1 digits
    out_.put(i <= filled_ ? kDigits[bits >> (3 - i) * kDigitBits & 63U] : '=');
  }
  group_ = {};
  filled_ = 0;
}

void Base64Output::write(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    group_[filled_++] = byte;
    if (filled_ == group_.size()) {
      put_group();
    }
  }
}

void Base64Output::finish() {
  if (filled_ != 0) {
    put_group();
  }
}

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
