// Which of several symbols at one address names it: the order of perf, so that both show one name.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stackpack::symbolize {

/// What a symbol's table says of it. The least one counts.
struct AliasRank {
  bool has_no_size = false;
  bool is_label = false;  ///< of no type
  bool is_weak = false;
  bool is_not_global = false;

  // clang-tidy takes the zero of a defaulted comparison for a pointer.
  friend auto operator<=>(const AliasRank&, const AliasRank&) = default;  // NOLINT
};

/// Decides between equal ranks: the fewest leading underscores, then the longest name, then no
/// `SyS` of a system call. Of equal ones the first in the table counts. `name`: as people read it,
/// without parameters.
struct AliasNameRank {
  explicit AliasNameRank(std::string_view name)
      : underscores(std::min(name.find_first_not_of('_'), name.size())),
        missing(~name.size()),
        is_system_call(name.starts_with("SyS") || name.starts_with("compat_SyS")) {}

  std::size_t underscores;
  std::size_t missing;  ///< less for longer ones
  bool is_system_call;

  friend auto operator<=>(const AliasNameRank&, const AliasNameRank&) = default;  // NOLINT
};

}  // namespace stackpack::symbolize
