// The frame of a .spk file: header at the start, directory and trailer at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spk/format/layout.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Whether the rows of a section have texts: what a row takes in memory is not in proportion to
/// the file then.
constexpr bool has_texts(SectionKind kind) {
  constexpr std::array kKinds{
      SectionKind::kEvents,    SectionKind::kProcesses,  SectionKind::kThreads,
      SectionKind::kModules,   SectionKind::kMetadata,   SectionKind::kTexts,
      SectionKind::kSources,   SectionKind::kValueTexts, SectionKind::kControlGroups,
      SectionKind::kLabelSets, SectionKind::kAliasTexts};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

/// Whether a section may have contents of `raw_bytes` in blocks of `stored_bytes`, which are those
/// that the file has: no product passes 64 bits.
constexpr bool keeps_table_bounds(SectionKind kind, std::uint64_t stored_bytes,
                                  std::uint64_t raw_bytes) {
  return !has_texts(kind) || raw_bytes <= kFreeTableBytes ||
         (raw_bytes - kFreeTableBytes + kMostTableRatio - 1) / kMostTableRatio <= stored_bytes;
}

/// Whether a file may have `rows` intervals in blocks of `stored_bytes`.
constexpr bool keeps_interval_bounds(std::uint64_t stored_bytes, std::uint64_t rows) {
  return rows <= kFreeIntervals ||
         (rows - kFreeIntervals + kIntervalsPerByte - 1) / kIntervalsPerByte <= stored_bytes;
}

/// One block: a zstd frame in the file.
struct BlockRecord {
  std::uint32_t stored_bytes = 0;  ///< the frame
  std::uint32_t raw_bytes = 0;     ///< its content
  std::uint64_t hash = 0;          ///< XXH3 of the frame

  friend bool operator==(const BlockRecord&, const BlockRecord&) = default;
};

/// One section: consecutive blocks.
struct SectionRecord {
  std::uint32_t kind = 0;  ///< a SectionKind, or one that this version does not know
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;  ///< of the first block in the file
  std::uint64_t stored_bytes = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t items = 0;  ///< frames, edges, nodes, rows, ...
  std::uint64_t block_count = 0;
  std::vector<BlockRecord> blocks;  ///< all of them; none when kSectionIndexed

  friend bool operator==(const SectionRecord&, const SectionRecord&) = default;
};

struct Directory {
  std::vector<SectionRecord> sections;  ///< in file order, without gaps

  [[nodiscard]] const SectionRecord* find(SectionKind kind) const;
};

/// What the trailer says.
struct Trailer {
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_hash = 0;
  std::uint64_t file_bytes = 0;
};

std::vector<std::byte> encode_header();

/// Directory and trailer of a file whose sections end at `offset`.
std::vector<std::byte> encode_tail(const Directory& directory, std::uint64_t offset);

/// Whether a file that begins with `head` claims to be a .spk file, of any version, damaged or not.
bool looks_like_spk(std::span<const std::byte> head);

/// Checks the first kHeaderBytes of a file.
/// Errors: kTruncated; kCorrupt: not a .spk file, or damaged; kUnsupported: newer major version.
Status check_header(std::span<const std::byte> header);

/// Reads the last kTrailerBytes of a file of `file_bytes`.
/// Output: ranges that lie inside the file.
/// Errors: kTruncated: the end of the file is missing; kCorrupt; kUnsupported.
Result<Trailer> decode_trailer(std::span<const std::byte> trailer, std::uint64_t file_bytes);

/// Reads the directory frame.
/// Output: sections that touch each other and fill the file between header and directory; the
///         listed blocks fill their section; every block's content within kMaxBlockBytes; tables
///         with texts within their bounds.
/// Errors: kCorrupt; kUnsupported: an unknown section that is marked required.
Result<Directory> decode_directory(std::span<const std::byte> frame, const Trailer& trailer);

}  // namespace stackpack::spk
