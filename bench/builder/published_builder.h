// The design that stackpack measures itself by, after its published description: nodes of 64-bit
// frame and variable-width parent in pages of 65,535; a keyless map with 64-bit slots that doubles
// at half load; XXH3 over (parent, frame); the last callstack of each thread.
#pragma once

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <xxhash.h>

#include "builder/prefix_frames.h"

namespace stackpack::bench {

class PublishedBuilder {
 public:
  PublishedBuilder() : slots_(kFirstSlots) { append(0, 0); }

  std::uint32_t intern(const capture::StackView& stack, std::uint64_t thread) {
    word_maker_.make(stack, words_);
    LastStacks::Entry& last = last_.of(thread);
    const std::size_t shared = last.keep_shared(words_);
    std::uint64_t node = shared == 0 ? 0 : last.nodes[shared - 1];
    for (std::size_t i = shared; i < words_.size(); ++i) {
      node = child(node, words_[i]);
      last.push(words_[i], static_cast<std::uint32_t>(node));
    }
    return static_cast<std::uint32_t>(node);
  }

  [[nodiscard]] std::uint64_t node_count() const { return count_; }
  [[nodiscard]] std::uint64_t map_bytes() const { return slots_.size() * sizeof(std::uint64_t); }
  [[nodiscard]] std::uint64_t store_bytes() const {
    std::uint64_t bytes = 0;
    for (const Page& page : pages_) {
      bytes += kPageNodes * (sizeof(std::uint64_t) + page.parent_bytes);
    }
    return bytes;
  }

  /// The frames of the callstack that ends at `node`, leaf first, into `words` (replaced).
  void callstack(std::uint64_t node, std::vector<std::uint64_t>& words) const {
    words.clear();
    for (; node != 0; node = parent_of(node)) {
      words.push_back(word_of(node));
    }
  }
  /// Whether that is `stack`.
  [[nodiscard]] bool holds(std::uint64_t node, const capture::StackView& stack) {
    word_maker_.make(stack, words_);
    for (std::size_t i = words_.size(); i-- > 0; node = parent_of(node)) {
      if (node == 0 || word_of(node) != words_[i]) {
        return false;
      }
    }
    return node == 0;
  }
  /// Number of the page of a node.
  [[nodiscard]] static std::uint64_t page_of(std::uint64_t node) { return node / kPageNodes; }
  [[nodiscard]] std::uint64_t parent(std::uint64_t node) const { return parent_of(node); }
  /// The pages as they would be written, the last one cut to its nodes.
  [[nodiscard]] std::vector<std::vector<std::byte>> stored_pages() const {
    std::vector<std::vector<std::byte>> stored;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      const std::uint64_t nodes = std::min<std::uint64_t>(kPageNodes, count_ - i * kPageNodes);
      const std::uint64_t frame_bytes = nodes * sizeof(std::uint64_t);
      const std::uint64_t parent_bytes = nodes * pages_[i].parent_bytes;
      std::vector<std::byte>& page = stored.emplace_back(frame_bytes + parent_bytes);
      std::memcpy(page.data(), pages_[i].frames.get(), frame_bytes);
      std::memcpy(page.data() + frame_bytes, pages_[i].parents.get(), parent_bytes);
    }
    return stored;
  }

 private:
  static constexpr std::uint64_t kPageNodes = 65'535;
  static constexpr std::uint64_t kFirstSlots = 1024;

  struct Page {
    std::unique_ptr<std::uint64_t[]> frames;
    std::unique_ptr<std::uint8_t[]> parents;
    unsigned parent_bytes;  // as many as the highest node index in the page needs
  };

  static std::uint64_t hash(std::uint64_t parent, std::uint64_t word) {
    const std::array<std::uint64_t, 2> key{parent, word};
    return XXH3_64bits(key.data(), sizeof key);
  }

  [[nodiscard]] std::uint64_t word_of(std::uint64_t node) const {
    return pages_[node / kPageNodes].frames[node % kPageNodes];
  }
  [[nodiscard]] std::uint64_t parent_of(std::uint64_t node) const {
    const Page& page = pages_[node / kPageNodes];
    const std::uint8_t* const at = &page.parents[node % kPageNodes * page.parent_bytes];
    switch (page.parent_bytes) {
      case 2: {
        std::uint16_t value = 0;
        std::memcpy(&value, at, sizeof value);
        return value;
      }
      case 4: {
        std::uint32_t value = 0;
        std::memcpy(&value, at, sizeof value);
        return value;
      }
      default: {
        std::uint64_t value = 0;
        std::memcpy(&value, at, sizeof value);
        return value;
      }
    }
  }

  std::uint64_t append(std::uint64_t parent, std::uint64_t word) {
    const std::uint64_t in_page = count_ % kPageNodes;
    if (in_page == 0) {
      const std::uint64_t highest = count_ + kPageNodes - 1;
      const unsigned width = highest <= 0xffff ? 2 : highest <= 0xffff'ffff ? 4 : 8;
      pages_.push_back({std::make_unique<std::uint64_t[]>(kPageNodes),
                        std::make_unique<std::uint8_t[]>(kPageNodes * width), width});
    }
    Page& page = pages_.back();
    page.frames[in_page] = word;
    std::memcpy(&page.parents[in_page * page.parent_bytes], &parent, page.parent_bytes);
    return count_++;
  }

  std::uint64_t child(std::uint64_t parent, std::uint64_t word) {
    const std::uint64_t mask = slots_.size() - 1;
    std::uint64_t slot = hash(parent, word) & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      const std::uint64_t node = slots_[slot];
      if (word_of(node) == word && parent_of(node) == parent) {
        return node;
      }
    }
    const std::uint64_t node = append(parent, word);
    slots_[slot] = node;
    if (count_ * 2 > slots_.size()) {
      grow();
    }
    return node;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    const std::uint64_t mask = slots_.size() - 1;
    for (std::uint64_t node = 1; node < count_; ++node) {
      std::uint64_t slot = hash(parent_of(node), word_of(node)) & mask;
      while (slots_[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      slots_[slot] = node;
    }
  }

  std::vector<Page> pages_;
  std::vector<std::uint64_t> slots_;
  std::uint64_t count_ = 0;
  LastStacks last_;
  WordMaker word_maker_;
  std::vector<std::uint64_t> words_;
};

}  // namespace stackpack::bench
