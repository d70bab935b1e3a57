#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "symbolize/pdb/pdb_tables.h"
#include "symbolize/pdb/symbol_sweep.h"

namespace stackpack::symbolize {

/// Adds the procedures, thunks and separated pieces of procedures among the symbols of an object
/// file. False where a record is damaged; what came before it is kept.
bool add_procedures(const bytes::ByteCursor& symbols, std::uint32_t module, const PdbTables& tables,
                    SymbolSweep& sweep);

}  // namespace stackpack::symbolize
