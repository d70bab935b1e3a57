#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spk/format/layout.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// Makes callstacks of codes and differences, thread by thread (docs/format.md, section 5): what
/// StackPredictor says, for the side that is given the guess. A callstack of a thread has a number,
/// and lists are of numbers, so that only a difference has to look for its callstack.
/// Keeps its scratch between calls. Threads: one at a time.
class StackCodes {
 public:
  /// All must outlive the calls of decode_thread().
  /// `codes`: below kFirstGuessCode + kStackGuesses. `differences`: one for each code 1.
  void begin(std::span<const std::uint8_t> codes, std::span<const std::uint64_t> differences,
             std::uint64_t stack_count);

  /// The callstacks of the next samples, those of one thread: of `positions[i]` into
  /// `stacks[positions[i]]`. False: one is not below the number of callstacks, or a guess is none.
  [[nodiscard]] bool decode_thread(std::span<const std::uint32_t> positions, StackId* stacks);

 private:
  struct Slot {
    std::uint32_t thread = 0;
    StackId stack = 0;
    std::uint32_t number = 0;
  };
  struct Known {  // a callstack of the thread
    StackId stack = 0;
    std::uint32_t followers = 0;
  };
  using Followers = std::array<std::uint32_t, kStackGuesses>;

  void begin_thread(std::size_t differences);
  std::uint32_t number_of(StackId stack);
  void put_first(std::uint32_t number, std::uint32_t follower);

  std::span<const std::uint8_t> codes_;
  std::span<const std::uint64_t> differences_;
  std::uint64_t stack_count_ = 0;
  std::uint32_t thread_ = 0;
  std::size_t mask_ = 0;  // slots in use - 1
  std::vector<Slot> slots_;
  std::uint32_t known_count_ = 0;
  std::vector<Known> known_;
  std::vector<Followers> followers_;  // per number: numbers, most recent first
};

}  // namespace stackpack::spk
