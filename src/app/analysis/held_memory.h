// Which memory stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "stackpack/model.h"

namespace stackpack::app {

/// Follows commits and releases of virtual memory, as VirtualAlloc and VirtualFree say them, or
/// allocations on heaps. What is released need not be what was committed at once.
///
/// Memory: kMostRanges ranges; commits beyond are counted.
class HeldMemory {
 public:
  static constexpr std::size_t kMostRanges = std::size_t{1} << 22;

  /// Whose it is.
  struct Owner {
    StackId stack = kNoStack;
    std::uint64_t time_ns = 0;  ///< of the commit
  };
  struct Range {
    std::uint64_t end = 0;
    Owner owner;
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by their begin; none overlap

  /// Memory that is committed already stays its owner's.
  void commit(std::uint32_t pid, std::uint64_t begin, std::uint64_t bytes, const Owner& owner);
  void release(std::uint32_t pid, std::uint64_t begin, std::uint64_t bytes);
  /// Releases the range that begins there, if there is one.
  void free(std::uint32_t pid, std::uint64_t begin);

  [[nodiscard]] const std::map<std::uint32_t, Ranges>& processes() const { return processes_; }
  [[nodiscard]] std::uint64_t most_bytes() const { return most_bytes_; }
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  std::map<std::uint32_t, Ranges> processes_;
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace stackpack::app
