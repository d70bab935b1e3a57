#pragma once

#include <cstdint>
#include <vector>

#include "symbolize/pdb/inline_sites.h"

namespace stackpack::symbolize {

/// Which inlined call each byte of a procedure is in: the innermost one.
class InnermostSites {
 public:
  /// A piece of a procedure of which that is the same.
  struct Piece {
    std::uint32_t begin = 0;                ///< from the start of the procedure
    std::uint32_t end = ~std::uint32_t{0};  ///< all ones: of the procedure
    std::uint32_t site = kNoSite;
  };

  InnermostSites() = default;
  explicit InnermostSites(const InlineTree& tree);

  [[nodiscard]] Piece at(std::uint32_t offset) const;

 private:
  void cut(const InlineTree& tree);

  std::vector<std::uint32_t> boundaries_;  // where a range begins or ends
  std::vector<std::uint32_t> innermost_;   // by the boundary that a piece begins at
};

}  // namespace stackpack::symbolize
