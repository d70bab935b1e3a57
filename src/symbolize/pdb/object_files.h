#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "stackpack/result.h"
#include "symbolize/pdb/msf_file.h"
#include "symbolize/pdb/pdb_tables.h"

namespace stackpack::symbolize {

inline constexpr std::uint32_t kSymbolsBegin = 4;  ///< of the symbols of an object file

/// The symbols and lines of the object files of a PDB, of one at a time.
class ObjectFiles {
 public:
  /// `with_lines`: false leaves them out. The others must outlive this.
  ObjectFiles(const MsfFile& file, const PdbTables& tables, bool with_lines)
      : file_(file),
        tables_(tables),
        with_lines_(with_lines),
        damaged_(tables.modules.size(), false) {}

  /// Reads an object file; false when it has no symbols, or is damaged. Errors: kIo, kLimit.
  Result<bool> read(std::uint32_t module);

  /// Of the one read last.
  [[nodiscard]] bytes::ByteCursor symbols(std::uint32_t module) const;
  [[nodiscard]] bytes::ByteCursor lines(std::uint32_t module) const;

  void mark_damaged(std::uint32_t module) { damaged_[module] = true; }
  [[nodiscard]] std::uint64_t damaged() const;

 private:
  const MsfFile& file_;
  const PdbTables& tables_;
  bool with_lines_;
  std::vector<bool> damaged_;
  std::vector<std::byte> bytes_;
};

}  // namespace stackpack::symbolize
