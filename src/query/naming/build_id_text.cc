#include "query/naming/build_id_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "bytes/byte_text.h"

namespace stackpack::query {

namespace {

constexpr std::size_t kGuidBytes = 16;
constexpr std::size_t kAgeBytes = 4;

// The first three fields of a GUID are numbers, stored little-endian and written big end first.
constexpr std::array<std::uint8_t, kGuidBytes> kGuidOrder = {3, 2, 1,  0,  5,  4,  7,  6,
                                                             8, 9, 10, 11, 12, 13, 14, 15};

std::uint32_t age_of(const Module& module) {
  std::uint32_t age = 0;
  if (module.build_id_kind == BuildIdKind::kPdb &&
      module.build_id.size() >= kGuidBytes + kAgeBytes) {
    for (std::size_t i = kAgeBytes; i-- > 0;) {
      age = (age << 8) | module.build_id[kGuidBytes + i];
    }
  }
  return age;
}

}  // namespace

std::string hex_of(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    bytes::append_hex(text, byte, 2);
  }
  return text;
}

std::string breakpad_id(const Module& module) {
  std::array<std::uint8_t, kGuidBytes> guid{};
  const std::size_t size = std::min(module.build_id.size(), kGuidBytes);
  std::copy_n(module.build_id.begin(), size, guid.begin());
  std::string text;
  for (const std::uint8_t index : kGuidOrder) {
    bytes::append_hex(text, guid[index], 2, bytes::kUpperHex);
  }
  std::string age;
  for (std::uint32_t rest = age_of(module); rest != 0 || age.empty(); rest >>= 4) {
    age += bytes::kUpperHex[rest & 0xF];
  }
  return text.append(age.rbegin(), age.rend());
}

std::string build_id_text(const Module& module) {
  switch (module.build_id_kind) {
    case BuildIdKind::kNone:
      break;
    case BuildIdKind::kGnu:
      return hex_of(module.build_id);
    case BuildIdKind::kPdb:
      return breakpad_id(module);
  }
  return {};
}

}  // namespace stackpack::query
