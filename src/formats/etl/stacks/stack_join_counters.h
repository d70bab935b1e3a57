#pragma once

#include <cstdint>

namespace stackpack::etl {

/// What became of the StackWalk events of a trace.
struct StackJoinCounters {
  std::uint64_t fragments_inline = 0;
  std::uint64_t key_references = 0;
  std::uint64_t key_definitions = 0;
  std::uint64_t undefined_references = 0;
  std::uint64_t joined = 0;  ///< callstacks: kernel_only + user_only + kernel_and_user
  std::uint64_t kernel_only = 0;
  std::uint64_t user_only = 0;
  std::uint64_t kernel_and_user = 0;
  std::uint64_t borrowed =
      0;                    ///< user half taken from another event of the same stay in the kernel
  std::uint64_t stale = 0;  ///< kernel halves whose user half was never logged
  std::uint64_t late = 0;   ///< user halves for a stay in the kernel that was over: ignored
  std::uint64_t frames = 0;

  void add(bool kernel, bool user, std::uint64_t count) {
    joined += count;
    (kernel ? user ? kernel_and_user : kernel_only : user_only) += count;
  }
};

}  // namespace stackpack::etl
