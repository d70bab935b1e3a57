// Random callstacks that share prefixes, as those of programs do. Seeded; the tests print the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "stackpack/model.h"
#include "support/frozen_dag_maker.h"

namespace stackpack::test {

/// A small generator with the same numbers on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// 0 .. limit - 1.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

/// `count` different stacks of 1 .. `max_depth` frames out of about `frames` different ones.
inline StackSet random_stacks(Random& random, std::size_t count, std::size_t max_depth,
                              std::uint64_t frames) {
  StackSet stacks;
  RootFirstStack stack;
  while (stacks.size() < count) {
    stack.resize(random.below(stack.size() + 1));
    do {
      const std::uint64_t number = random.below(frames) * random.below(frames) / frames;
      const auto mode = static_cast<FrameMode>(number % 11 == 0 ? number % kFrameModeCount : 2);
      stack.push_back({mode, 0x7F0000001000 + number * number * 3});
    } while (stack.size() < max_depth && random.below(4) != 0);
    stacks.insert(stack);
  }
  return stacks;
}

}  // namespace stackpack::test
