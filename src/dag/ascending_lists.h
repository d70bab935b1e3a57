// Lists of ascending numbers that grow in turn and are then looked up at random, in a bounded
// memory: as they are, 4 bytes each, where all fit, which is faster to look up, and else in bits.
//
// In bits: blocks of 128 numbers, each block by Elias and Fano ("Efficient storage and retrieval by
// content and address of static files", 1974). The numbers less their place in the block do not
// descend; their low bits stand side by side, and of the rest is written how many steps each is
// above the one before, a set bit for each number after as many clear ones. Numbers that nearly
// follow each other take 2 to 3 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/spill_file.h"
#include "scratch/spill_pages.h"
#include "stackpack/result.h"

namespace stackpack::dag {

class AscendingLists {
 public:
  /// `counts`: numbers that each list will have. Scratch lies in `directory`.
  /// Memory: `budget_bytes`, on disk beyond; 0.5 KiB per list.
  AscendingLists(std::string directory, std::uint64_t budget_bytes,
                 std::span<const std::uint64_t> counts);

  /// The next number of a list, greater than the one before; no more than its count. Errors: kIo.
  Status add(std::size_t list, std::uint32_t number);

  /// Number `index` of a list that is complete. Errors: kIo.
  Result<std::uint32_t> at(std::size_t list, std::uint64_t index);

 private:
  static constexpr std::uint64_t kBlockNumbers = 128;

  // Where a block is: 16 bytes, one after the other from the list's begin on.
  struct Block {
    std::uint32_t first = 0;      // its first number
    std::uint32_t low_width = 0;  // low bits of each number
    std::uint64_t offset = 0;     // in the file: words with the low bits, then those with steps
  };

  struct List {
    std::uint64_t begin = 0;  // in the file: of its blocks, or of the numbers as they are
    std::uint64_t count = 0;
    std::uint64_t added = 0;
    std::array<std::uint32_t, kBlockNumbers> open{};  // the last added % kBlockNumbers
  };

  Status write_block(List& list, std::span<const std::uint32_t> numbers);

  io::SpillFile file_;
  scratch::SpillPages pages_;
  std::vector<List> lists_;
  bool packed_ = false;
  std::uint64_t end_ = 0;  // of what is in use of the file
};

}  // namespace stackpack::dag
