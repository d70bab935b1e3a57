#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spk/layout.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// Guesses the next callstack of a thread: those that came after its latest one before, most recent
/// first. Encoder and decoder of a sample block keep one each and tell it the same samples, thread
/// by thread.
class StackPredictor {
 public:
  using Guesses = std::array<StackId, kStackGuesses>;  ///< kNoStack: no more guesses

  /// Forgets everything. `samples`: at most so many follow.
  void begin_block(std::size_t samples);
  /// The samples that follow are another thread's.
  void begin_thread();

  /// The thread's latest callstack; kNoStack at first.
  [[nodiscard]] StackId latest() const { return latest_; }

  /// Valid until the next call.
  [[nodiscard]] const Guesses& guesses() const;

  /// The thread was seen with `stack`, which is not kNoStack.
  void update(StackId stack);

 private:
  struct Slot {
    std::uint32_t thread = 0;  // 0: free
    StackId latest = 0;
    std::uint32_t list = 0;
  };
  [[nodiscard]] std::size_t slot_of(StackId latest) const;

  std::uint32_t thread_ = 0;
  StackId latest_ = kNoStack;
  std::size_t slot_ = 0;  // of latest_
  std::vector<Slot> slots_;
  std::vector<Guesses> lists_;  // the first is empty
};

}  // namespace stackpack::spk
