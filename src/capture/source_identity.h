// Which capture a file was made of, whatever made it and with which options.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bytes/byte_text.h"
#include "stackpack/model.h"

namespace stackpack::capture {

/// The metadata key: 32 hexadecimal digits, a digest of all of the capture's bytes and of nothing
/// else (docs/format.md, section 8). It is not there when these changed while they were read, and
/// in a merged file, whose sources have identities.
inline constexpr std::string_view kIdentityKey = "source.identity";

using SourceIdentity = std::array<std::byte, 16>;

inline std::string text_of_identity(const SourceIdentity& identity) {
  std::string text;
  for (const std::byte byte : identity) {
    bytes::append_hex(text, std::to_integer<std::uint64_t>(byte), 2);
  }
  return text;
}

/// What the metadata of a file say.
inline std::optional<SourceIdentity> identity_of(std::span<const MetadataEntry> metadata) {
  const auto row = std::find_if(metadata.begin(), metadata.end(), [](const MetadataEntry& entry) {
    return entry.key == kIdentityKey;
  });
  SourceIdentity identity{};
  if (row == metadata.end() || row->value.size() != 2 * identity.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < row->value.size(); ++i) {
    const std::size_t digit = bytes::kLowerHex.find(row->value[i]);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    identity[i / 2] = identity[i / 2] << 4 | static_cast<std::byte>(digit);
  }
  return identity;
}

}  // namespace stackpack::capture
