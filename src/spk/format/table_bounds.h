#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "spk/format/layout.h"

namespace stackpack::spk {

/// Whether the rows of a section have texts: what a row takes in memory is not in proportion to
/// the file then.
constexpr bool has_texts(SectionKind kind) {
  constexpr std::array kKinds{
      SectionKind::kEvents,  SectionKind::kProcesses,  SectionKind::kThreads,
      SectionKind::kModules, SectionKind::kMetadata,   SectionKind::kTexts,
      SectionKind::kSources, SectionKind::kValueTexts, SectionKind::kControlGroups};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

/// Whether a section may have contents of `raw_bytes` in blocks of `stored_bytes`, which are those
/// that the file has: no product passes 64 bits.
constexpr bool keeps_table_bounds(SectionKind kind, std::uint64_t stored_bytes,
                                  std::uint64_t raw_bytes) {
  return !has_texts(kind) || raw_bytes <= kFreeTableBytes ||
         (raw_bytes - kFreeTableBytes + kMostTableRatio - 1) / kMostTableRatio <= stored_bytes;
}

}  // namespace stackpack::spk
