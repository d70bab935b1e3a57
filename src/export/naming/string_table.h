#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackpack::exporting {

/// Distinct texts, numbered densely in the order of their arrival.
class StringTable {
 public:
  /// The number of `text`, which is added when it is new.
  std::uint32_t intern(std::string_view text);

  [[nodiscard]] std::string_view text(std::uint32_t number) const {
    return std::string_view(characters_)
        .substr(starts_[number], starts_[number + 1] - starts_[number]);
  }
  [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }

 private:
  void grow();

  std::string characters_;
  std::vector<std::size_t> starts_{0};
  std::vector<std::uint32_t> slots_;  // number plus 1; 0: free
};

}  // namespace stackpack::exporting
