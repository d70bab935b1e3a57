// Zip archives: members share no bytes, and what is read of one is what its claims say or an error.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/zip_archive.h"
#include "fuzz/require.h"
#include "io/byte_source.h"

namespace stackpack::fuzz {

void zip_archive(std::span<const std::byte> data) {
  constexpr std::size_t kMostRead = 16;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  constexpr std::size_t kHeadBytes = 64;
  const auto source = io::source_of_memory(data);
  const auto archive = codec::ZipArchive::open(*source);
  if (!archive) {
    return;
  }
  const std::vector<codec::ZipArchive::Member>& members = (*archive)->members();
  std::uint64_t claimed = 0;
  for (const codec::ZipArchive::Member& member : members) {
    claimed += member.compressed_size;
  }
  require(claimed <= data.size());
  for (std::size_t i = 0; i < std::min(members.size(), kMostRead); ++i) {
    const auto head = (*archive)->read_head(i, kHeadBytes);
    const auto content = (*archive)->read(i, kMostBytes);
    if (!content) {
      continue;
    }
    require(head.has_value() && content->size() == members[i].size);
    require(std::ranges::equal(*head, std::span(*content).first(head->size())));
    require(head->size() == std::min(kHeadBytes, content->size()));
  }
}

}  // namespace stackpack::fuzz
