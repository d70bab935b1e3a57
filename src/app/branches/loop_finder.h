// Loops of an image, by the jumps that were taken in it.
//
// A jump back spans code; spans that overlap without one being in the other are one loop, since
// compilers lay the body of a loop out in any order. What is left is a forest of loops.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace stackpack::app {

/// How often the ranges of one image ran through a place. Give all ranges, then settle(), then ask:
/// a question costs two searches, however many ranges lie on each other.
class CodeRuns {
 public:
  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t count);
  void settle();

  /// Runs that went on after the instruction at `at`: a branch there was not taken.
  [[nodiscard]] std::uint64_t through(std::uint64_t at) const {
    return sum_until(begins_, at) - sum_until(ends_, at);
  }
  /// Runs that came to `at` from the instruction before.
  [[nodiscard]] std::uint64_t into(std::uint64_t at) const { return at == 0 ? 0 : through(at - 1); }

 private:
  using Sums = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  static std::uint64_t sum_until(const Sums& sums, std::uint64_t at);

  Sums begins_;  // place, count; after settle() of all up to it
  Sums ends_;
};

/// A jump, by offset in the file of the image.
struct TakenJump {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t count = 0;
  /// Whether it may be part of a loop: it stays in its function and is no call or return.
  bool inside_function = false;
};

struct FoundLoop {
  std::uint64_t head = 0;         ///< of the places that jumps go back to, the one reached most
  std::uint64_t last_branch = 0;  ///< the last one that goes back
  std::uint64_t iterations = 0;   ///< times that `head` was reached
  std::uint64_t entries = 0;      ///< times that code outside went into the loop; 0: not recorded
};

/// All loops, by where their code begins. `jumps`: those that end in the image, calls as well, but
/// no returns, which come back from calls in a loop. One from another image has a `from` that no
/// loop has: ~0. Time: n log n.
std::vector<FoundLoop> find_loops(std::vector<TakenJump> jumps, const CodeRuns& runs);

}  // namespace stackpack::app
