#pragma once

#include <cstdint>
#include <span>

#include "stackpack/model.h"
#include "symbolize/elf_identity.h"

namespace stackpack::symbolize {

/// A part of an image that a process has mapped to run it, as the capture has it.
struct ImageMapping {
  std::uint32_t pid = kKernelPid;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  MappedFile file{};

  // clang-tidy takes the zero that the compiler compares with for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ImageMapping&, const ImageMapping&) = default;
};

inline ImageMapping mapping_of(const Module& module) {
  return {module.pid, module.base, module.size, module.file_offset, module.file};
}

/// Gives the executable segments of a debug file the offsets that they have in its image. Those in
/// the debug file say where the bytes would be in it: tools that strip move them.
///
/// What both files share are addresses and sizes. Segments are mapped in whole pages, and a
/// segment's offset and address are equal within a page. So a mapping is of the segment that
/// covers as many pages, or of all segments when the first one is mapped for all of them; of a
/// program that is not moved, of the segment with its addresses. Where several segments would do,
/// those count that put most of a process' mappings at one distance from their addresses.
///
/// `file`: afterwards has the segments that are mapped, and no other one.
/// False: the mappings leave several possibilities, or none; `file` is as it was.
/// Cost: a sort of the mappings, for at most kMostPlacedSegments executable segments.
inline constexpr std::size_t kMostPlacedSegments = 64;
bool place_segments(ElfIdentity& file, std::span<const ImageMapping> mappings);

/// Whether each mapping lies in pages of one executable segment.
bool has_code_where_mapped(const ElfIdentity& file, std::span<const ImageMapping> mappings);

}  // namespace stackpack::symbolize
