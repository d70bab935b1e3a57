// From the order of arrival to the canonical order.
//
// Memory is the constraint: 12 1/8 bytes a node come in, 10 1/8 go out, and the steps in between
// must not need more than the builder did at its own worst. So every array is given back as soon as
// it has been read for the last time. Bytes a node that come and go:
//
//   number frames   words (8) -> ranks (4): numbered in order of appearance, the distinct words
//                   sorted as frames, the numbers replaced by their ranks
//   list children   parents (4) -> offsets (4) + children (4), each node's children by rank; where
//                   memory does not matter, this goes on while frames are numbered
//   walk            offsets + children -> the nodes in canonical order (4), their depths (2)
//   rank stacks     -> stack ids by node (4); the nodes in order are replaced by their frames
#include "dag/freeze.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/radix_sort.h"
#include "core/task_line.h"

namespace stackpack::dag {
namespace {

template <typename T>
using Array = io::GrowableArray<T>;

// Nodes between fetching what belongs to one and using it.
constexpr std::uint32_t kNodesAhead = 16;

// Like the containers that the output is made of: there is nothing to go on with without memory.
template <typename T>
Array<T> allocate(std::uint64_t count) {
  Array<T> array;
  if (!array.reserve(std::max<std::uint64_t>(count, 1))) {
    throw std::bad_alloc();
  }
  return array;
}

// Numbers words in order of appearance.
class WordNumbers {
 public:
  WordNumbers() { rehash(kFirstSlots); }

  std::uint32_t number(FrameWord word) {
    std::uint64_t slot = home(word);
    while (slots_[slot] != 0) {
      if (words_[slots_[slot] - 1] == word) {
        return slots_[slot] - 1;
      }
      slot = (slot + 1) & mask_;
    }
    if (!words_.reserve(std::uint64_t{count_} + 1)) {
      throw std::bad_alloc();
    }
    words_[count_] = word;
    slots_[slot] = ++count_;
    const std::uint32_t result = count_ - 1;
    if (count_ > (mask_ + 1) / 4 * 3) {
      rehash((mask_ + 1) * 2);
    }
    return result;
  }

  /// Fetches what number() will look at first, and, once that is there, what it will look at then.
  void fetch_slot(FrameWord word) const { __builtin_prefetch(slots_.data() + home(word)); }
  void fetch_word(FrameWord word) const {
    if (count_ < kFarWords) {
      return;
    }
    if (const std::uint32_t number = slots_[home(word)]; number != 0) {
      __builtin_prefetch(words_.data() + number - 1);
    }
  }

  [[nodiscard]] std::uint32_t size() const { return count_; }

  Array<FrameWord> take_words() {
    slots_.release();
    return std::move(words_);
  }

 private:
  static constexpr std::uint64_t kFirstSlots = 1024;
  static constexpr std::uint32_t kFarWords = 65'536;  // so many are not in the near caches

  [[nodiscard]] std::uint64_t home(FrameWord word) const {
    const std::uint64_t product = word * 0x9e3779b97f4a7c15ULL;
    return (product ^ (product >> 32)) & mask_;
  }

  void rehash(std::uint64_t slot_count) {
    slots_.release();
    slots_ = allocate<std::uint32_t>(slot_count);
    mask_ = slot_count - 1;
    for (std::uint32_t i = 0; i < count_; ++i) {
      std::uint64_t slot = home(words_[i]);
      while (slots_[slot] != 0) {
        slot = (slot + 1) & mask_;
      }
      slots_[slot] = i + 1;
    }
  }

  Array<FrameWord> words_;
  Array<std::uint32_t> slots_;  // number + 1; 0 = empty
  std::uint64_t mask_ = 0;
  std::uint32_t count_ = 0;
};

// What became of the words: `ranks` of the nodes, and the distinct frames in ascending order.
struct NumberedFrames {
  Array<std::uint32_t> ranks;
  std::vector<Frame> dictionary;
};

// Frames go by mode first, then by address: the numbers of each mode's frames, by address.
using FramesByMode = std::array<std::vector<core::OrderKey>, kFrameModeCount>;

FramesByMode sort_frames(Array<FrameWord> words, std::uint32_t count, const EscapeTable& escapes) {
  std::array<std::size_t, kFrameModeCount> counts{};
  for (std::uint32_t i = 0; i < count; ++i) {
    ++counts[static_cast<std::size_t>(frame_of(escapes, words[i]).mode)];
  }
  FramesByMode frames;
  for (std::size_t mode = 0; mode < frames.size(); ++mode) {
    frames[mode].reserve(counts[mode]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Frame frame = frame_of(escapes, words[i]);
    frames[static_cast<std::size_t>(frame.mode)].push_back({frame.address, i});
  }
  words.release();
  for (std::vector<core::OrderKey>& of_mode : frames) {
    std::vector<core::OrderKey> scratch;
    core::sort_by_value(of_mode, scratch);
  }
  return frames;
}

NumberedFrames number_frames(Array<FrameWord>& words, std::uint32_t node_count,
                             const EscapeTable& escapes) {
  WordNumbers numbers;
  Array<std::uint32_t> ranks = allocate<std::uint32_t>(node_count);
  for (std::uint32_t node = 1; node < node_count; ++node) {
    numbers.fetch_slot(words[std::min(node + 2 * kNodesAhead, node_count - 1)]);
    numbers.fetch_word(words[std::min(node + kNodesAhead, node_count - 1)]);
    ranks[node] = numbers.number(words[node]);
  }
  words.release();

  const std::uint32_t distinct = numbers.size();
  const FramesByMode frames = sort_frames(numbers.take_words(), distinct, escapes);
  NumberedFrames result;
  result.dictionary.reserve(distinct);
  std::vector<std::uint32_t> rank_of(distinct);
  for (std::size_t mode = 0; mode < frames.size(); ++mode) {
    for (const core::OrderKey& frame : frames[mode]) {
      rank_of[frame.index] = static_cast<std::uint32_t>(result.dictionary.size());
      result.dictionary.push_back({static_cast<FrameMode>(mode), frame.value});
    }
  }
  for (std::uint32_t node = 1; node < node_count; ++node) {
    ranks[node] = rank_of[ranks[node]];
  }
  result.ranks = std::move(ranks);
  return result;
}

// The children of node n are children[offsets[n]] .. children[offsets[n + 1] - 1].
struct ChildLists {
  Array<std::uint32_t> offsets;
  Array<std::uint32_t> children;
};

ChildLists list_children(Array<std::uint32_t>& parents, std::uint32_t node_count) {
  ChildLists lists;
  lists.offsets = allocate<std::uint32_t>(std::uint64_t{node_count} + 1);
  lists.children = allocate<std::uint32_t>(node_count);
  std::uint32_t* const offsets = lists.offsets.data();
  std::uint32_t* const children = lists.children.data();
  for (std::uint32_t node = 1; node < node_count; ++node) {
    ++offsets[parents[node]];
  }
  std::uint32_t end = 0;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    end += offsets[node];
    offsets[node] = end;  // filling backwards turns the end of a list into its begin
  }
  offsets[node_count] = end;
  for (std::uint32_t node = node_count - 1; node > 0; --node) {
    children[--offsets[parents[node]]] = node;
  }
  parents.release();
  return lists;
}

// Sorts the children of one node.
class ChildSort {
 public:
  ChildSort(const Array<std::uint32_t>& ranks, FreezeSteps steps) : ranks_(ranks), steps_(steps) {}

  void run(std::span<std::uint32_t> children) {
    if (children.size() >= kMany && steps_ == FreezeSteps::kSideBySide) {
      sort_many(children);
    } else {
      std::sort(children.begin(), children.end(),
                [this](std::uint32_t a, std::uint32_t b) { return ranks_[a] < ranks_[b]; });
    }
  }

 private:
  static constexpr std::size_t kMany = 1024;

  // Brings the ranks along, 32 bytes a child: comparing nodes far from each other takes longer.
  void sort_many(std::span<std::uint32_t> children) {
    keys_.clear();
    keys_.reserve(children.size());
    for (const std::uint32_t node : children) {
      keys_.push_back({ranks_[node], node});
    }
    core::sort_by_value(keys_, scratch_);
    std::transform(keys_.begin(), keys_.end(), children.begin(),
                   [](const core::OrderKey& key) { return key.index; });
  }

  const Array<std::uint32_t>& ranks_;
  FreezeSteps steps_;
  std::vector<core::OrderKey> keys_;
  std::vector<core::OrderKey> scratch_;
};

void sort_by_rank(ChildLists& lists, std::uint32_t node_count, const Array<std::uint32_t>& ranks,
                  FreezeSteps steps) {
  ChildSort sort(ranks, steps);
  const std::uint32_t* const offsets = lists.offsets.data();
  std::uint32_t* const children = lists.children.data();
  for (std::uint32_t node = 0; node < node_count; ++node) {
    const std::uint32_t ahead = offsets[node] + kNodesAhead;
    if (ahead < offsets[node_count]) {
      __builtin_prefetch(ranks.data() + children[ahead]);
    }
    if (offsets[node + 1] - offsets[node] > 1) {
      sort.run(std::span(children + offsets[node], children + offsets[node + 1]));
    }
  }
}

// Fills dag.frame with the store's node indices in canonical order, and dag.depth.
void walk(const ChildLists& lists, std::uint32_t node_count, FrozenDag& dag) {
  struct Brothers {
    std::uint32_t next;
    std::uint32_t end;
  };
  dag.frame.resize(node_count - 1);
  dag.depth.resize(node_count - 1);
  std::vector<Brothers> path{{lists.offsets[0], lists.offsets[1]}};
  std::size_t visited = 0;
  while (!path.empty()) {
    Brothers& top = path.back();
    if (top.next == top.end) {
      path.pop_back();
      continue;
    }
    const std::uint32_t node = lists.children[top.next++];
    if (top.next != top.end) {
      __builtin_prefetch(lists.offsets.data() + lists.children[top.next]);
    }
    dag.frame[visited] = node;
    dag.depth[visited] = static_cast<std::uint16_t>(path.size());
    ++visited;
    const Brothers below{lists.offsets[node], lists.offsets[node + 1]};
    if (below.next != below.end) {
      path.push_back(below);
    }
  }
}

// Numbers the ends of callstacks in canonical order and replaces node indices by frames.
void rank_stacks(const Array<std::uint64_t>& ends, const Array<std::uint32_t>& ranks,
                 FrozenDag& dag, std::vector<StackId>& stack_of_node) {
  dag.ends_stack.assign((dag.frame.size() + 63) / 64, 0);
  for (std::size_t i = 0; i < dag.frame.size(); ++i) {
    if (i + kNodesAhead < dag.frame.size()) {
      const std::uint32_t later = dag.frame[i + kNodesAhead];
      __builtin_prefetch(ranks.data() + later);
      __builtin_prefetch(stack_of_node.data() + later, 1);
    }
    const std::uint32_t node = dag.frame[i];
    if (((ends[node / 64] >> (node % 64)) & 1) != 0) {
      stack_of_node[node] = dag.stack_count++;
      dag.ends_stack[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    dag.frame[i] = ranks[node];
  }
}

}  // namespace

void freeze_nodes(NodeStore::Arrays nodes, const EscapeTable& escapes, FreezeSteps steps,
                  FrozenDag& dag, std::vector<StackId>& stack_of_node) {
  ChildLists lists;
  core::TaskLine::Task listing;
  core::TaskLine line(steps == FreezeSteps::kSideBySide ? 1 : 0,
                      [&](unsigned, core::TaskLine::Task&) -> Status {
                        lists = list_children(nodes.parents, nodes.size);
                        return {};
                      });
  line.submit(listing);
  NumberedFrames frames = number_frames(nodes.words, nodes.size, escapes);
  dag.dictionary = std::move(frames.dictionary);
  if (!line.collect(listing)) {
    throw std::bad_alloc();  // nothing else can fail there
  }
  sort_by_rank(lists, nodes.size, frames.ranks, steps);
  walk(lists, nodes.size, dag);
  lists = {};
  stack_of_node.assign(nodes.size, kNoStack);
  rank_stacks(nodes.ends, frames.ranks, dag, stack_of_node);
}

std::uint64_t freeze_peak_bytes(std::uint64_t nodes, std::uint64_t distinct_frames) {
  constexpr std::uint64_t kWord = sizeof(FrameWord);
  constexpr std::uint64_t kIndex = sizeof(std::uint32_t);
  const std::uint64_t bits = nodes / 8;
  // Distinct words; their slots up to 3/8 full after doubling, 4 bytes each.
  const std::uint64_t numbering =
      nodes * (kWord + 2 * kIndex) + bits + distinct_frames * (kWord + kIndex * 8 / 3);
  // The frames by address, twice while they are sorted, or once more as frames, and their ranks.
  const std::uint64_t sorting = nodes * 2 * kIndex + bits +
                                distinct_frames * (kIndex + sizeof(core::OrderKey) + sizeof(Frame));
  // Ranks, offsets, children, nodes in order, depths.
  const std::uint64_t walking =
      nodes * (4 * kIndex + sizeof(std::uint16_t)) + bits + distinct_frames * sizeof(Frame);
  constexpr std::uint64_t kPaths = 2 * kIndex * 2 * std::uint64_t{kMaxDepth};
  return std::max({numbering, sorting, walking}) + kPaths;
}

}  // namespace stackpack::dag
