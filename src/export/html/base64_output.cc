#include "export/html/base64_output.h"

#include <cstdint>
#include <string_view>

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

}  // namespace stackpack::exporting
