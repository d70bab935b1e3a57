// What every builder that we compare ours with has in common: frames of one word, root first, and
// the last callstack of each thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "capture/stack_view.h"
#include "dag/frame_word.h"

namespace stackpack::bench {

/// Frames as words, exactly as our builder makes them: it is the maps that are compared.
class WordMaker {
 public:
  /// The frames of a stack, root first.
  void make(const capture::StackView& stack, std::vector<std::uint64_t>& words) {
    words.resize(stack.depth());
    std::size_t at = 0;
    for (const capture::ModeRun& run : stack.runs) {
      const std::uint64_t key = dag::mode_key(run.mode);
      for (std::uint32_t i = 0; i < run.count; ++i, ++at) {
        const std::uint64_t address = stack.addresses[at];
        words[stack.depth() - 1 - at] =
            dag::escape_bits(address) == 0 ? address ^ key : escape({run.mode, address});
      }
    }
  }

 private:
  std::uint64_t escape(const Frame& frame) {
    if (escapes_.full()) {
      escapes_.grow();
    }
    return dag::make_word(escapes_, frame);
  }

  dag::EscapeTable escapes_;
};

/// The last callstack of each thread, as frames and nodes, root first.
class LastStacks {
 public:
  struct Entry {
    std::vector<std::uint64_t> words;
    std::vector<std::uint32_t> nodes;

    /// How many frames of `stack` are shared; the rest of the entry is cut off.
    std::size_t keep_shared(const std::vector<std::uint64_t>& stack) {
      const std::size_t most = std::min(stack.size(), words.size());
      const auto differ = std::mismatch(
          words.begin(), words.begin() + static_cast<std::ptrdiff_t>(most), stack.begin());
      const auto shared = static_cast<std::size_t>(differ.first - words.begin());
      words.resize(shared);
      nodes.resize(shared);
      return shared;
    }
    void push(std::uint64_t word, std::uint32_t node) {
      words.push_back(word);
      nodes.push_back(node);
    }
  };
  Entry& of(std::uint64_t thread) { return entries_[thread]; }

 private:
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace stackpack::bench
