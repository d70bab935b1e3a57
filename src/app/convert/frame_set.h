#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/function_recorder.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The distinct frames of a capture, to ask whether any lies in a range.
/// Memory: `memory_bytes`, the rest in a scratch file. Failure is sticky: status().
class FrameSet {
 public:
  FrameSet(std::string scratch_directory, std::uint64_t memory_bytes);

  /// Frames in ascending order, each once.
  void add(std::span<const Frame> frames);

  /// Whether there is a frame of that mode at an address from `first` to `last`, both inclusive.
  /// Cost: next to nothing for most ranges of a few pages without any frame.
  [[nodiscard]] bool any(FrameMode mode, std::uint64_t first, std::uint64_t last) const;

  /// Errors: kIo.
  [[nodiscard]] const Status& status() const { return space_.status(); }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint64_t kMostPages = 8;
  static constexpr unsigned kPageBits = 16;

  static std::size_t slot_of(std::uint64_t page) {
    return static_cast<std::size_t>((page * 0x9E37'79B9'7F4A'7C15ULL) >> (64 - kPageBits));
  }
  // False: no frame of any mode is there.
  [[nodiscard]] bool may_have(std::uint64_t first, std::uint64_t last) const;

  scratch::SpillSpace space_;
  scratch::SpillArray<std::uint64_t> addresses_;
  std::uint64_t count_ = 0;
  std::array<std::uint64_t, kFrameModeCount + 1> first_of_mode_{};
  std::bitset<std::size_t{1} << kPageBits> pages_;  // those with frames, by their hashes
};

/// Whether callstacks may have addresses of a function. A return address may lie right after it.
class FunctionUse {
 public:
  /// All must outlive this.
  FunctionUse(const FrameSet& frames, std::span<const Module> modules)
      : frames_(frames), modules_(modules) {}

  [[nodiscard]] bool occurs(const capture::RecordedFunction& function) const;

 private:
  [[nodiscard]] bool occurs_in_image(const capture::RecordedFunction& function) const;

  const FrameSet& frames_;
  std::span<const Module> modules_;
};

}  // namespace stackpack::app
