// Stack keys: frames that are referred to now and listed later.
//
// Since Windows 8 the kernel keeps recent stacks in a cache and logs a key instead of the frames.
// The frames follow when the cache evicts the stack, or at the end of the session: a definition
// comes after all the references that it serves. Then the key is free to name another stack. Kernel
// and user stacks are two spaces of keys.
//
// So each (space, key) has at most one open generation, which begins with its first reference and
// ends with its definition. A generation is one kind of StackPart; the other is a fragment whose
// frames are known but must wait for its counterpart. What uses a part holds a use of it; the
// frames of a defined part live as long as it has uses.
//
// How many keys are open and how many parts are in use is up to the trace: everything is kept in a
// SpillSpace, so that it costs disk, not memory. Most parts live for microseconds, though: the
// frames of a thousand of usual length stand in a pool beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/index_table.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"

namespace stackpack::etl {

/// A kernel or user half whose frames may not be known yet.
using StackPart = std::uint32_t;
inline constexpr StackPart kNoPart = 0;

/// A kernel or user half of a callstack: of a key, or frames, of which a part is made only when
/// they must wait. The frames are valid during the call that they are passed to.
struct StackHalf {
  StackPart part = kNoPart;
  std::span<const std::uint64_t> frames;
  [[nodiscard]] bool known() const { return part != kNoPart || !frames.empty(); }
};

/// Which space of keys a reference is in. kEither: an extended data item, which may refer to
/// either.
enum class KeySpace : std::uint8_t { kKernel, kUser, kEither };

class StackKeys {
 public:
  /// `space` must outlive this; its status() has what fails here.
  explicit StackKeys(scratch::SpillSpace& space) : parts_(space), frames_(space), open_(space) {}

  /// The open generation of the key, with one more use.
  StackPart refer(KeySpace space, std::uint64_t key);

  /// A part with these frames, with one use.
  StackPart hold(std::span<const std::uint64_t> frames);

  /// Ends the generation of the key: its frames are these. Gives the part with one use for the
  /// caller, or kNoPart when nothing refers to the key.
  StackPart define(KeySpace space, std::uint64_t key, std::span<const std::uint64_t> frames);

  void add_use(StackPart part);
  void release(StackPart part);

  [[nodiscard]] bool defined(StackPart part) const { return parts_.get(part).defined != 0; }

  /// Appends the frames of a defined part to `frames`.
  void append_frames(StackPart part, std::vector<std::uint64_t>& frames) const;

  /// References that no definition has served so far.
  [[nodiscard]] std::uint64_t undefined_references() const { return undefined_references_; }

 private:
  struct Part {
    std::uint32_t uses = 0;
    std::uint32_t references = 0;
    std::uint32_t frames = 0;  // their chain
    std::uint32_t frame_count = 0;
    std::uint64_t defined = 0;
    std::uint64_t pooled = 0;  // where in the pool they stand, counted from 1; 0: they are a chain
  };
  struct OpenKey {
    std::uint64_t key = 0;
    StackPart part = kNoPart;
    std::uint32_t space = 0;
    [[nodiscard]] bool used() const { return part != kNoPart; }
    [[nodiscard]] std::uint64_t hash() const { return core::mix_bits(key) ^ core::mix_bits(space); }
    [[nodiscard]] bool same_key(const OpenKey& other) const {
      return key == other.key && space == other.space;
    }
  };

  static constexpr std::size_t kMostPooled = 1024;       // parts, in 2 MiB
  static constexpr std::size_t kMostPooledFrames = 256;  // of each

  void give_frames(Part& part, std::span<const std::uint64_t> frames);
  void forget_frames(const Part& part);

  scratch::SpillRecords<Part> parts_;
  scratch::SpillChains frames_;
  scratch::SpillTable<OpenKey> open_;
  std::vector<std::vector<std::uint64_t>> pool_;
  std::vector<std::uint64_t> free_in_pool_;  // counted from 1
  std::uint64_t undefined_references_ = 0;
};

}  // namespace stackpack::etl
