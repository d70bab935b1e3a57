#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spk/format/layout.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// Guesses the next callstack of a thread: those that came after its latest one before, most recent
/// first. Encoder and decoder of a sample block keep one each and show it the same samples, thread
/// by thread.
class StackPredictor {
 public:
  using Guesses = std::array<StackId, kStackGuesses>;  ///< kNoStack: no more guesses

  /// Forgets everything: the samples that follow are another thread's, at most so many.
  void begin_thread(std::size_t samples);

  /// The thread's latest callstack; kNoStack at first.
  [[nodiscard]] StackId latest() const { return latest_; }

  /// Valid until the next call.
  [[nodiscard]] const Guesses& guesses() const;

  /// Which guess `stack` is; kStackGuesses when it is none of them.
  [[nodiscard]] unsigned find(StackId stack) const;

  /// The thread was seen with `stack`, which is not kNoStack and was guess `guess`, or none of them
  /// if that is kStackGuesses.
  void update(StackId stack, unsigned guess);

 private:
  // Slots of other threads are free ones: nothing needs to be cleared between threads, and a thread
  // of few samples stays within few slots.
  struct Slot {
    std::uint32_t thread = 0;
    StackId latest = 0;
    std::uint32_t list = 0;
  };
  [[nodiscard]] std::size_t slot_of(StackId latest) const;

  std::uint32_t thread_ = 0;
  StackId latest_ = kNoStack;
  std::size_t slot_ = 0;  // of latest_
  std::size_t mask_ = 0;  // slots in use - 1
  std::vector<Slot> slots_;
  std::vector<Guesses> lists_;  // the first is empty
};

}  // namespace stackpack::spk
