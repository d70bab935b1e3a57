#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "capture/callstack_sink.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/join_counts.h"
#include "formats/etl/stack_keys.h"

namespace stackpack::etl {

/// Callstacks made of a kernel part and a user part of which at least one is not defined yet. Each
/// different pair is one promise to the sink, kept when its last part is defined.
///
/// `borrowed`: the user half was logged for another event of the thread. Such a pair is worth
/// nothing without its kernel half.
class StackPairs {
 public:
  StackPairs(StackKeys& keys, SampleWriter& samples, JoinCounts& counts)
      : keys_(keys), samples_(samples), counts_(counts) {}

  /// A sample whose callstack is `kernel` and then `user`; either may be kNoPart. Takes uses of its
  /// own on both.
  Status add(const EventFacts& event, StackPart kernel, StackPart user, bool borrowed);

  /// Keeps the promises for which `part` was the last that was missing.
  Status part_defined(StackPart part);

  /// Keeps what can be kept: half a callstack is one, too.
  Status finish();

  [[nodiscard]] std::size_t open() const { return by_parts_.size(); }

 private:
  struct Pair {
    capture::PendingStack promise{};
    StackPart kernel = kNoPart;
    StackPart user = kNoPart;
    bool borrowed = false;
    std::uint64_t samples = 0;
  };
  struct Key {
    StackPart kernel;
    StackPart user;
    bool borrowed;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  [[nodiscard]] bool ready(const Pair& pair) const;
  Status settle(const Pair& pair);

  StackKeys& keys_;
  SampleWriter& samples_;
  JoinCounts& counts_;
  std::unordered_map<Key, std::uint32_t, KeyHash> by_parts_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> free_;
  std::unordered_multimap<StackPart, std::uint32_t> by_open_part_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace stackpack::etl
