#pragma once

#include <compare>
#include <cstdint>

#include "stackpack/model.h"

namespace stackpack::query {

/// What samples of one group have in common. The order of groups is the order of the members.
struct GroupKey {
  std::uint32_t event = 0;
  StackId stack = kNoStack;
  std::uint32_t context = 0;
  std::uint32_t track = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

struct Group {
  GroupKey key;
  std::uint64_t count = 0;   ///< samples
  std::uint64_t weight = 0;  ///< their weights; saturates
};

}  // namespace stackpack::query
