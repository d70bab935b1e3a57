#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "io/byte_source.h"
#include "stackpack/result.h"
#include "symbolize/name_collector.h"
#include "symbolize/pdb/msf_file.h"
#include "symbolize/pdb/pdb_tables.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// What the names of a PDB left out.
struct PdbDamage {
  std::uint64_t modules =
      0;                     ///< object files with symbols or lines that could not be read in whole
  std::uint64_t tables = 0;  ///< other tables: public symbols, contributions, names of types
};

/// Names of addresses from a PDB alone, without its image.
///
/// Cost:   one pass over the symbols, one over the lines of object files that have an address, and
///         none over the rest. Memory: what one object file has, the tables, and the answer.
/// Trust:  every size is checked against the file before memory is reserved for it.
class PdbReader {
 public:
  /// `source` is seekable and must outlive this.
  static Result<PdbReader> open(io::ByteSource& source);

  /// Whether it belongs to an image with that GUID and age.
  [[nodiscard]] bool fits(const PdbIdentity& image) const;
  [[nodiscard]] const PdbIdentity& identity() const { return tables_.identity; }

  /// Adds rows with owner kImage, module 0 and source kPdb; addresses are RVAs. Procedures come as
  /// people read them, public symbols as linked.
  /// Errors: kIo, kLimit. Damage costs the object file that has it, and is counted.
  Result<PdbDamage> name(const SymbolRequest& request, NameCollector& names) const;

 private:
  PdbReader(MsfFile file, PdbTables tables) : file_(std::move(file)), tables_(std::move(tables)) {}

  MsfFile file_;
  PdbTables tables_;
};

}  // namespace stackpack::symbolize
