#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "scratch/spill_records.h"
#include "scratch/spill_space.h"

namespace stackpack::scratch {

/// Byte strings of any length in a SpillSpace, each in a chain of blocks.
class SpillChains {
 public:
  /// `space` must outlive this.
  explicit SpillChains(SpillSpace& space) : blocks_(space) {}

  /// The number of a chain with these bytes: 0 for no bytes. The length is for the caller to keep.
  std::uint32_t add(std::span<const std::byte> bytes);

  /// The bytes of a chain, which are as many as `into`.
  void read(std::uint32_t chain, std::span<std::byte> into) const;

  void remove(std::uint32_t chain);

 private:
  struct Block {
    std::uint32_t next = 0;
    std::array<std::byte, 124> bytes{};
  };

  SpillRecords<Block> blocks_;
};

}  // namespace stackpack::scratch
