// A builder over an ordinary hash map with (parent, frame) keys, and the last callstack of each
// thread in front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "builder/prefix_frames.h"

namespace stackpack::bench {

struct NodeKey {
  std::uint64_t word;
  std::uint32_t parent;

  friend bool operator==(const NodeKey&, const NodeKey&) = default;

  /// For absl containers, which bring their own hash function.
  template <typename State>
  friend State AbslHashValue(State state, const NodeKey& key) {
    return State::combine(std::move(state), key.word, key.parent);
  }
};

struct NodeKeyHash {
  std::size_t operator()(const NodeKey& key) const {
    std::uint64_t value = (key.word ^ std::uint64_t{key.parent} << 32) * 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93ULL;
    return value ^ (value >> 32);
  }
};

/// `Map` is a map from NodeKey to node. The nodes live in it alone: there is no store besides.
template <typename Map>
class KeyedBuilder {
 public:
  std::uint32_t intern(const capture::StackView& stack, std::uint64_t thread) {
    word_maker_.make(stack, words_);
    LastStacks::Entry& last = last_.of(thread);
    const std::size_t shared = last.keep_shared(words_);
    std::uint32_t node = shared == 0 ? 0 : last.nodes[shared - 1];
    for (std::size_t i = shared; i < words_.size(); ++i) {
      const auto next = static_cast<std::uint32_t>(map_.size() + 1);
      node = map_.try_emplace(NodeKey{words_[i], node}, next).first->second;
      last.push(words_[i], node);
    }
    return node;
  }

  [[nodiscard]] std::uint64_t node_count() const { return map_.size() + 1; }
  [[nodiscard]] const Map& map() const { return map_; }

 private:
  Map map_;
  LastStacks last_;
  WordMaker word_maker_;
  std::vector<std::uint64_t> words_;
};

using StdMap = std::unordered_map<NodeKey, std::uint32_t, NodeKeyHash>;

/// Nodes of the list with pointer, key, value and the allocator's 16-byte steps; the buckets.
inline std::uint64_t map_bytes(const StdMap& map) {
  return map.size() * 48 + map.bucket_count() * sizeof(void*);
}

}  // namespace stackpack::bench
