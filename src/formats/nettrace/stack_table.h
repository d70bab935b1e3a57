// Callstacks by the ids that events refer to them with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/loss_counters.h"
#include "formats/nettrace/trace_blocks.h"

namespace stackpack::nettrace {

/// The callstacks of blocks `u32 first id, u32 count, count x (u32 bytes, addresses leaf first)`,
/// from one sequence point to the next: there all ids die, and are given anew.
///
/// Memory: kMostFrames addresses, and 16 bytes for each of kMostStacks.
class StackTable {
 public:
  static constexpr std::size_t kMostFrames = std::size_t{1} << 24;
  static constexpr std::size_t kMostStacks = std::size_t{1} << 22;

  StackTable(unsigned pointer_size, capture::LossCounters& losses)
      : pointer_size_(pointer_size), losses_(losses) {}

  void add_block(const Block& block);
  void forget();

  /// The addresses of a callstack, which may have none; null when there is no such id. Valid until
  /// the next block.
  struct Found {
    bool known = false;
    std::span<const std::uint64_t> addresses;
  };
  [[nodiscard]] Found find(std::uint32_t id) const;

  /// The addresses of an inline callstack, valid until the next call.
  std::span<const std::uint64_t> read_inline(std::span<const std::byte> stack,
                                             std::uint64_t offset);

 private:
  struct Stack {
    std::uint64_t begin = 0;
    std::uint32_t count = 0;
  };
  void keep(std::uint32_t id, std::span<const std::byte> stack, std::uint64_t offset);
  void append_addresses(std::span<const std::byte> stack, std::uint64_t offset,
                        std::vector<std::uint64_t>& addresses);
  [[nodiscard]] std::uint32_t number_of(std::uint32_t id) const;

  unsigned pointer_size_;
  capture::LossCounters& losses_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint64_t> inline_;
  std::vector<Stack> stacks_;
  std::vector<std::uint32_t> numbers_;  // by id: place in stacks_ + 1; 0: none
  std::unordered_map<std::uint32_t, std::uint32_t> far_numbers_;  // of ids far beyond their count
};

}  // namespace stackpack::nettrace
