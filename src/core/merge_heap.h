#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace stackpack::core {

/// The heads of sequences that are merged: the one that comes first is on top. All k-way merges of
/// ordered sequences are made with it.
///
/// `before(a, b)`: a comes before b. Where it is no total order, which of two equal heads is on top
/// depends on the calls so far. Cost: log2(size) comparisons a call, twice that for pop().
template <typename Head, typename Before>
class MergeHeap {
 public:
  explicit MergeHeap(Before before) : before_(std::move(before)) {}

  [[nodiscard]] bool empty() const { return heads_.empty(); }
  [[nodiscard]] std::size_t size() const { return heads_.size(); }
  /// The first head. Not when empty().
  [[nodiscard]] const Head& top() const { return heads_.front(); }

  void push(Head head) {
    std::size_t hole = heads_.size();
    heads_.emplace_back();
    while (hole > 0 && before_(head, heads_[(hole - 1) / 2])) {
      heads_[hole] = std::move(heads_[(hole - 1) / 2]);
      hole = (hole - 1) / 2;
    }
    heads_[hole] = std::move(head);
  }

  /// Takes the first head out. Not when empty().
  Head pop() {
    Head last = std::move(heads_.back());
    heads_.pop_back();
    return heads_.empty() ? std::move(last) : replace_top(std::move(last));
  }

  /// Takes the first head out and puts `head` in, in one descent. Not when empty().
  Head replace_top(Head head) {
    Head first = std::move(heads_.front());
    const std::size_t size = heads_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && before_(heads_[child + 1], heads_[child])) {
        ++child;
      }
      if (!before_(heads_[child], head)) {
        break;
      }
      heads_[hole] = std::move(heads_[child]);
      hole = child;
    }
    heads_[hole] = std::move(head);
    return first;
  }

 private:
  Before before_;
  std::vector<Head> heads_;
};

}  // namespace stackpack::core
