#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/merge/image_table.h"
#include "app/merge/input_names.h"
#include "app/merge/name_union.h"
#include "core/index_table.h"
#include "query/naming/prefix_walk.h"
#include "stackpack/model.h"
#include "stackpack/symbols.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// Gives the frames of one input the addresses that they have in a merge.
///
/// A frame in an image is at its offset in the image's place, one with nothing but a name at the
/// address of the name; any other keeps its address, unless that lies where places are. Modes stay.
/// Memory: kMostKnown frames, some 50 bytes each.
class FrameRebaser {
 public:
  /// What the input is, and what all are. All must outlive this.
  struct Tables {
    const Symbols& symbols;
    std::span<const InputImage> images;
    const ImageTable& places;
    const InputCalls& calls;
    const NameUnion& names;
  };
  /// `stacks`: callstacks of the input, for which there is room from the start: most of them have a
  /// process of their own, and frames that are new.
  FrameRebaser(const Tables& tables, std::uint64_t stacks);

  /// Where an address means the same: in a process and its epoch, and that of the kernel.
  struct Context : symbols::MappingContext {
    std::uint32_t user = 0;  ///< numbers of the epochs, from 0 on, each unique
    std::uint32_t kernel = 0;
  };

  /// Replaces `rebased` by the addresses of a callstack.
  void rebase(std::span<const Frame> leaf_first, const Context& context,
              std::vector<Frame>& rebased);

  /// The address of an end of a branch in the merge: one in an image is at its offset in the
  /// image's place, any other stays, as a branch is between two instructions and not between names.
  std::uint64_t rebase_end(std::uint64_t address, const Context& context);

  /// By row of the modules: whether a frame or an end of a branch that kept its address is in it.
  [[nodiscard]] const std::vector<bool>& modules_used() const { return modules_used_; }

  /// Frames that have no place in the merge. How often a frame counts follows from the input alone.
  struct Unplaced {
    std::uint64_t moved = 0;   ///< they lay where places are
    std::uint64_t kernel = 0;  ///< of the kernel; they keep their addresses
  };
  [[nodiscard]] const Unplaced& unplaced() const { return unplaced_; }

  /// Forgets the frames of the contexts so far: their numbers may be used again.
  void forget();

 private:
  static constexpr std::size_t kMostKnown = std::size_t{1} << 20;

  struct Key {
    std::uint64_t address = 0;
    std::uint32_t context = 0;
    FrameMode mode = FrameMode::kUnknown;
    AddressUse use = AddressUse::kExact;
    bool is_end = false;  // of a branch
    friend bool operator==(const Key&, const Key&) = default;
  };
  static std::uint64_t hash_of(const Key& key) {
    // Processes that were forked have the same addresses: all bits of the context must count.
    return core::mix_bits(key.address ^ (std::uint64_t{key.context} << 40) ^
                          (static_cast<std::uint64_t>(key.mode) << 37) ^
                          (static_cast<std::uint64_t>(key.use) << 36) ^
                          (std::uint64_t{key.is_end} << 35));
  }

  struct Known {
    Key key;
    std::uint64_t address = 0;  // in the merge
  };

  [[nodiscard]] static Key key_of(const Frame& frame, AddressUse use, const Context& context);
  template <typename AddressOf>
  std::uint64_t known_address(const Key& key, const AddressOf& address_of);
  std::uint64_t address_of(const Frame& frame, AddressUse use, const Context& context);
  std::uint64_t address_of_end(const Frame& end, const Context& context);
  [[nodiscard]] std::optional<std::uint64_t> address_in_image(const CodeLocation& location) const;
  std::uint64_t kept_address(const Frame& frame, const CodeLocation& location);

  Tables tables_;
  std::vector<Known> known_;
  core::IndexTable index_;  // of known_
  std::vector<bool> modules_used_;
  query::PrefixWalk<std::uint64_t> walk_;  // the address of each frame in the merge
  std::uint32_t path_user_ = 0;
  std::uint32_t path_kernel_ = 0;
  Unplaced unplaced_;
};

}  // namespace stackpack::app
