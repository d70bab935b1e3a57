// What frames are counted under, each thing once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/index_table.h"
#include "query/naming/code_mode.h"
#include "stackpack/names.h"

namespace stackpack::query {

/// A thing that frames are counted under.
struct FrameEntity {
  std::string name;    ///< of the function; `[module]` for code without a name; an address
  std::string module;  ///< file name of the image; empty: none
  std::string place;   ///< file:line, with FrameGrain::kLine; +0xoffset, with kUnlinedAddress;
                       ///< ROW+0xoffset, with kCodeAddress: the row of a mapping of the image
  /// Of the kinds of code that it was seen as, the one that says most.
  CodeMode mode = CodeMode::kUnknown;
  /// With keep_functions, of modules and files: the function whose code it is, and its image.
  std::string function{};
  std::string function_module{};
  std::vector<AliasList> aliases{};  ///< what the function is called, too
};

/// Things by their texts, numbered densely in the order of their arrival. Names may be long, and
/// the table has them once.
class EntityTable {
 public:
  /// The number of a thing, which is added when it is new, and else seen as its kind of code
  /// and called as it is.
  std::uint32_t number(FrameEntity entity);

  void see_as(std::uint32_t number, CodeMode mode) {
    entities_[number].mode = more_telling(entities_[number].mode, mode);
  }

  [[nodiscard]] const std::vector<FrameEntity>& all() const { return entities_; }
  [[nodiscard]] const FrameEntity& operator[](std::uint32_t number) const {
    return entities_[number];
  }
  [[nodiscard]] std::size_t size() const { return entities_.size(); }
  [[nodiscard]] std::vector<FrameEntity> take() { return std::move(entities_); }

 private:
  std::vector<FrameEntity> entities_;
  core::IndexTable index_;
};

}  // namespace stackpack::query
