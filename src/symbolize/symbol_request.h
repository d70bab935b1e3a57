#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::symbolize {

/// What a symbol file may cost.
struct SymbolLimits {
  /// Bytes of a name as people read it; a longer one stays as linked.
  std::size_t name_bytes = std::size_t{64} << 10;
  /// Functions inlined into each other at one address.
  std::size_t inline_depth = 512;
  /// Rows of one kind that one file may give.
  std::size_t rows = std::size_t{16} << 20;
};

/// Which addresses of one image are to be named.
struct SymbolRequest {
  /// Ascending, distinct. Those of callers are of the byte before already. In ELF files offsets
  /// as Module::file_offset counts them, in PE files and PDBs RVAs, else addresses of memory.
  std::span<const std::uint64_t> addresses;
  bool inlines = true;  ///< false: functions, no inlined calls and no lines
  SymbolLimits limits{};
  bool lines = true;  ///< false: where `inlines` come from debug information, without lines
};

}  // namespace stackpack::symbolize
