#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/index_table.h"

namespace stackpack::core {

/// Distinct texts, numbered densely in the order of their arrival.
///
/// Memory: the texts end to end, and 16 to 24 bytes each.
class StringTable {
 public:
  static constexpr std::uint32_t kNone = IndexTable::kNone;

  /// The number of `text`, which is added when it is new.
  std::uint32_t intern(std::string_view text);

  /// The number of `text`, or kNone.
  [[nodiscard]] std::uint32_t find(std::string_view text) const;

  /// Valid until a text is added.
  [[nodiscard]] std::string_view text(std::uint32_t number) const {
    return std::string_view(characters_)
        .substr(starts_[number], starts_[number + 1] - starts_[number]);
  }
  [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }

 private:
  std::string characters_;
  std::vector<std::size_t> starts_{0};
  IndexTable index_;
};

}  // namespace stackpack::core
