// Our builder with a cache of whole callstacks in front, as the OpenTelemetry eBPF profiler has one
// for its traces: a table of fixed size from the 128-bit hash of a callstack to its node. The hash
// is trusted, which stackpack itself would not do.
#pragma once

#define XXH_INLINE_ALL
#include <cstdint>
#include <vector>

#include <xxhash.h>

#include "dag/builder.h"

namespace stackpack::bench {

class StackCacheBuilder {
 public:
  /// `entries`: a power of two.
  explicit StackCacheBuilder(std::size_t entries) : builder_({}), cache_(entries) {}

  std::uint32_t intern(const capture::StackView& stack, std::uint64_t thread) {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(
        stack.addresses.data(), stack.addresses.size_bytes(), stack.runs.front().count);
    Entry& entry = cache_[hash.low64 & (cache_.size() - 1)];
    if (entry.low == hash.low64 && entry.high == hash.high64) {
      ++hits_;
      return entry.node;
    }
    const auto node = static_cast<std::uint32_t>(builder_.intern(stack, thread).value());
    entry = {hash.low64, hash.high64, node};
    return node;
  }

  [[nodiscard]] const dag::Builder& builder() const { return builder_; }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }

 private:
  struct Entry {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t node = 0;
  };
  dag::Builder builder_;
  std::vector<Entry> cache_;
  std::uint64_t hits_ = 0;
};

}  // namespace stackpack::bench
