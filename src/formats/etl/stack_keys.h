// Stack keys: frames that are named now and told later.
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace stackpack::etl {

/// A kernel or user half whose frames may not be known yet.
using StackPart = std::uint32_t;
inline constexpr StackPart kNoPart = ~StackPart{0};

/// Which space of keys a reference is in. kEither: an extended data item, which does not tell.
enum class KeySpace : std::uint8_t { kKernel, kUser, kEither };

class StackKeys {
 public:
  /// Generations that may be open at a time; references to further keys count as undefined.
  static constexpr std::size_t kMaxOpen = std::size_t{1} << 19;

  /// The open generation of the key, with one more use; kNoPart when there are too many.
  StackPart refer(KeySpace space, std::uint64_t key);

  /// A part with these frames, with one use.
  StackPart hold(std::span<const std::uint64_t> frames);

  /// Ends the generation of the key: its frames are these. Gives the part with one use for the
  /// caller, or kNoPart when nothing refers to the key.
  StackPart define(KeySpace space, std::uint64_t key, std::span<const std::uint64_t> frames);

  void add_use(StackPart part) { ++parts_[part].uses; }
  void release(StackPart part);

  [[nodiscard]] bool defined(StackPart part) const { return parts_[part].defined; }
  [[nodiscard]] std::span<const std::uint64_t> frames(StackPart part) const {
    return parts_[part].frames;
  }

  /// References that no definition has served so far.
  [[nodiscard]] std::uint64_t undefined_references() const;

 private:
  struct Part {
    std::vector<std::uint64_t> frames;
    std::uint32_t uses = 0;
    std::uint32_t references = 0;
    bool defined = false;
  };
  using OpenKeys = std::unordered_map<std::uint64_t, StackPart>;

  StackPart new_part();

  std::vector<Part> parts_;
  std::vector<StackPart> free_;
  OpenKeys open_[3];  // by KeySpace
  std::uint64_t refused_ = 0;
};

}  // namespace stackpack::etl
