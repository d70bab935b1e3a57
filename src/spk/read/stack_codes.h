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
/// Each callstack that a thread was seen with is an entry of the block.
/// Keeps its scratch between calls. Threads: one at a time.
class StackCodes {
 public:
  /// All must outlive the calls of decode_thread().
  /// `codes`: below kFirstGuessCode + kStackGuesses. `differences`: one for each code 1.
  void begin(std::span<const std::uint8_t> codes, std::span<const std::uint64_t> differences,
             std::uint64_t stack_count);

  /// The callstacks of the next samples, those of one thread: the entry of `positions[i]` into
  /// `entries[positions[i]]`, which is not written where there is no callstack.
  /// False: one is not below the number of callstacks, or a guess is none.
  [[nodiscard]] bool decode_thread(std::span<const std::uint32_t> positions,
                                   std::uint32_t* entries);

  /// The callstack of each entry so far. The first one is kNoStack; those of a thread follow each
  /// other.
  [[nodiscard]] std::span<const StackId> stacks() const {
    return std::span<const StackId>(stacks_).first(entries_);
  }

 private:
  struct Slot {
    std::uint32_t thread = 0;
    StackId stack = 0;
    std::uint32_t number = 0;
  };
  // Numbers of the thread's callstacks, most recent first. A block has at most 65,536.
  using Followers = std::array<std::uint16_t, kStackGuesses>;
  static_assert(kSamplesPerBlock <= 65'536);

  void begin_thread(std::size_t differences);
  std::uint32_t number_of(StackId stack);
  void put_first(std::uint32_t number, std::uint32_t follower);

  std::span<const std::uint8_t> codes_;
  std::span<const std::uint64_t> differences_;
  std::uint64_t stack_count_ = 0;
  std::uint32_t thread_ = 0;
  std::size_t mask_ = 0;  // slots in use - 1
  std::vector<Slot> slots_;
  std::size_t entries_ = 1;
  std::size_t first_entry_ = 1;            // of the thread
  std::vector<StackId> stacks_{kNoStack};  // per entry
  // Per number of the thread.
  std::vector<std::uint8_t> follower_count_;
  std::vector<Followers> followers_;
};

}  // namespace stackpack::spk
