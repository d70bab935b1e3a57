#pragma once

#include <cstdint>
#include <vector>

#include "capture/callstack_sink.h"
#include "core/index_table.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/stacks/stack_keys.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"

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

/// Callstacks made of a kernel part and a user part of which at least one is not defined yet. Each
/// different pair is one pending callstack to the sink, resolved when its last part is defined.
///
/// `borrowed`: the user half was logged for another event of the thread. Such a pair is worth
/// nothing without its kernel half.
class StackPairs {
 public:
  /// All references must outlive this. What fails in `space` is in its status().
  StackPairs(scratch::SpillSpace& space, StackKeys& keys, SampleWriter& samples,
             StackJoinCounters& counts)
      : keys_(keys),
        samples_(samples),
        counts_(counts),
        pairs_(space),
        by_parts_(space),
        of_part_(space) {}

  /// A sample whose callstack is `kernel` and then `user`; either may be kNoPart. Takes uses of its
  /// own on both.
  Status add(const EventFacts& event, StackPart kernel, StackPart user, bool borrowed);

  /// Resolves the callstacks for which `part` was the last that was missing.
  Status part_defined(StackPart part);

  /// Keeps what can be kept: half a callstack is one, too.
  Status finish();

 private:
  // A pair is in the list of each part that is open, in the order of their coming.
  struct Pair {
    std::uint32_t pending = 0;
    StackPart kernel = kNoPart;
    StackPart user = kNoPart;
    std::uint32_t after_kernel = 0;  // the next pair in the list of `kernel`
    std::uint32_t after_user = 0;
    bool borrowed = false;
    bool live = false;
    std::uint64_t samples = 0;
  };
  struct OfPart {
    std::uint32_t first = 0;  // of the list
    std::uint32_t last = 0;
    std::uint32_t as_kernel = 0;  // the pair of this part and nothing else
    std::uint32_t as_user = 0;
  };
  struct ByParts {
    StackPart kernel = kNoPart;
    StackPart user = kNoPart;
    std::uint32_t borrowed = 0;
    std::uint32_t pair = 0;
    [[nodiscard]] bool used() const { return pair != 0; }
    [[nodiscard]] std::uint64_t hash() const {
      return core::mix_bits((std::uint64_t{kernel} << 32) | user) ^ core::mix_bits(borrowed);
    }
    [[nodiscard]] bool same_key(const ByParts& other) const {
      return kernel == other.kernel && user == other.user && borrowed == other.borrowed;
    }
  };

  [[nodiscard]] std::uint32_t find(const Pair& pair) const;
  void place(std::uint32_t number, const Pair& pair);
  void displace(const Pair& pair);
  void list(std::uint32_t number, StackPart part);
  [[nodiscard]] bool ready(const Pair& pair) const;
  Status settle(const Pair& pair);

  StackKeys& keys_;
  SampleWriter& samples_;
  StackJoinCounters& counts_;
  scratch::SpillRecords<Pair> pairs_;
  scratch::SpillTable<ByParts> by_parts_;  // those of two parts
  scratch::SpillArray<OfPart> of_part_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace stackpack::etl
