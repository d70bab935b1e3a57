#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "stackpack/result.h"
#include "symbolize/name_collector.h"
#include "symbolize/pdb/asked_code.h"
#include "symbolize/pdb/inline_sites.h"
#include "symbolize/pdb/module_lines.h"
#include "symbolize/pdb/object_files.h"
#include "symbolize/pdb/symbol_sweep.h"
#include "symbolize/symbol_request.h"

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

/// Where a function begins, by the lines.
struct WrittenAt {
  std::uint32_t file = kNoText;
  std::uint32_t line = 0;
};

/// Lines and inlined calls of addresses of which the functions are known.
///
/// Use: note the blocks of lines of every object file, then find() once.
class PdbLines {
 public:
  /// What is known of the addresses; all of it must outlive this.
  struct Known {
    const MsfFile& file;
    const PdbTables& tables;
    std::span<const AskedAddress> asked;
    std::span<const std::optional<SymbolChoice>> choices;  ///< one for each address
  };

  /// Notes the blocks of an object file that have an address that is asked for; false: they are
  /// damaged.
  bool note_blocks(std::uint32_t module, const bytes::ByteCursor& lines, const PdbTables& tables,
                   const SymbolSweep& sweep);

  /// Adds the lines to the names. True: all that there is, false: names of inlined functions are
  /// damaged. Errors: kIo, kLimit.
  Result<bool> find(const Known& known, ObjectFiles& objects, const SymbolRequest& request,
                    NameCollector& names);

  /// By name in the sweep.
  [[nodiscard]] const std::map<std::uint32_t, WrittenAt>& written() const { return written_; }

 private:
  class Finder;

  /// Lines that have an address, and of which object file they are.
  struct LineSource {
    std::uint32_t start = 0;
    std::uint32_t module = 0;
    LineBlock block;
  };

  std::vector<LineSource> sources_;
  std::map<std::uint32_t, WrittenAt> written_;
};

}  // namespace stackpack::symbolize
