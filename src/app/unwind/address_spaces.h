#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::app {

/// Numbers the times during which the addresses of a process mean the same: a new number begins
/// where the process begins (a pid is used again, or exec), and where an image is mapped or
/// unmapped. What a forked process has from its parent is fixed at the fork.
class AddressSpaces {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  AddressSpaces(std::span<const Process> processes, std::span<const Module> modules);

  /// The number of the address space of `pid` at `time_ns`; kNone: nothing is known of the process.
  [[nodiscard]] std::uint32_t find(std::uint32_t pid, std::uint64_t time_ns);

 private:
  // The last answer, of some processes.
  struct Recent {
    std::uint32_t pid = ~std::uint32_t{0};
    std::uint32_t space = kNone;
    std::uint64_t from_ns = 1;
    std::uint64_t until_ns = 0;
  };
  static constexpr std::size_t kRecent = 256;

  std::vector<std::pair<std::uint32_t, std::uint64_t>> boundaries_;  // pid, first time
  std::array<Recent, kRecent> recent_;
};

}  // namespace stackpack::app
