#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/merge/image_table.h"
#include "app/merge/name_union.h"
#include "stackpack/names.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// Numbers of an input's inlined calls in a NameUnion.
class InputCalls {
 public:
  /// All of them are added to `names`.
  InputCalls(const Names& input, NameUnion& names);

  /// Of row `inlined` of the input, or of none.
  [[nodiscard]] std::uint32_t operator[](std::uint32_t inlined) const {
    return inlined < numbers_.size() ? numbers_[inlined] : NameUnion::kNone;
  }

 private:
  std::vector<std::uint32_t> numbers_;
};

/// Of a location that no image has: what its frame is called. False: nothing.
bool name_of(const CodeLocation& location, const InputCalls& calls, NameUnion::NamedCode& name);

/// The offset of a location in the image that it has in a merge. False: it has none there.
bool place_of(const CodeLocation& location, std::span<const Module> modules,
              std::span<const InputImage> images, std::uint64_t& offset, std::uint32_t& image);

/// Adds all that an input says about names. `images`: of its modules; `merged`: as input_images().
void add_input_names(const Symbols& symbols, std::span<const InputImage> images, bool merged,
                     NameUnion& names);

}  // namespace stackpack::app
