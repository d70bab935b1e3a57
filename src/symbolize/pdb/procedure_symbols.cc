#include "symbolize/pdb/procedure_symbols.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "symbolize/pdb/codeview_kinds.h"
#include "symbolize/pdb/object_files.h"

namespace stackpack::symbolize {

namespace {

/// The symbols of one object file.
class ProcedureSymbols {
 public:
  ProcedureSymbols(const bytes::ByteCursor& symbols, std::uint32_t module, const PdbTables& tables,
                   SymbolSweep& sweep)
      : symbols_(symbols), module_(module), tables_(tables), sweep_(sweep) {}

  bool run() {
    bytes::ByteCursor symbols = symbols_;
    symbols.seek(kSymbolsBegin);
    bool separated = false;
    while (symbols.remaining() >= 4) {
      const std::size_t position = symbols.position();
      bytes::ByteCursor body = symbols.sub(symbols.read<std::uint16_t>());
      const auto kind = body.read<std::uint16_t>();
      if (!body.ok()) {
        return false;
      }
      separated |= kind == codeview::kSeparatedCode;
      if (codeview::is_procedure(kind)) {
        add_procedure(position, body);
      } else if (kind == codeview::kThunk) {
        add_thunk(position, body);
      }
    }
    if (separated) {
      add_separated_code();
    }
    return true;
  }

 private:
  void add_procedure(std::size_t position, bytes::ByteCursor body) {
    body.skip(12);  // places of the parent, the end and the next one
    SymbolChoice procedure;
    procedure.size = body.read<std::uint32_t>();
    body.skip(12);  // ends of prologue and epilogue, type
    const auto offset = body.read<std::uint32_t>();
    const auto section = body.read<std::uint16_t>();
    body.skip(1);  // flags
    add_code(position, section, offset, procedure, body);
  }

  void add_thunk(std::size_t position, bytes::ByteCursor body) {
    body.skip(12);
    const auto offset = body.read<std::uint32_t>();
    const auto section = body.read<std::uint16_t>();
    SymbolChoice thunk;
    thunk.size = body.read<std::uint16_t>();
    body.skip(1);  // kind
    add_code(position, section, offset, thunk, body);
  }

  void add_code(std::size_t position, std::uint16_t section, std::uint32_t offset,
                SymbolChoice code, bytes::ByteCursor name) {
    const std::optional<std::uint32_t> start = tables_.rva_of(section, offset);
    if (name.ok() && start) {
      code.start = *start;
      code.module = module_;
      code.position = position;
      sweep_.add_procedure(code, name.read_c_string());
    }
  }

  // Pieces of procedures elsewhere have the names of their procedures.
  void add_separated_code() {
    struct Piece {
      std::uint32_t parent_offset = 0;
      std::uint16_t parent_section = 0;
      std::uint32_t start = 0;
      std::uint32_t size = 0;
    };
    std::vector<Piece> pieces;
    std::map<std::tuple<std::uint16_t, std::uint32_t>, std::string_view> parents;
    each_symbol([&](std::uint16_t kind, bytes::ByteCursor body) {
      if (kind == codeview::kSeparatedCode) {
        Piece piece;
        body.skip(8);
        piece.size = body.read<std::uint32_t>();
        body.skip(4);  // flags
        const auto offset = body.read<std::uint32_t>();
        piece.parent_offset = body.read<std::uint32_t>();
        const auto section = body.read<std::uint16_t>();
        piece.parent_section = body.read<std::uint16_t>();
        const auto start = tables_.rva_of(section, offset);
        if (body.ok() && start && sweep_.asked(*start, piece.size)) {
          piece.start = *start;
          pieces.push_back(piece);
        }
      } else if (codeview::is_procedure(kind)) {
        body.skip(28);
        const auto offset = body.read<std::uint32_t>();
        const auto section = body.read<std::uint16_t>();
        body.skip(1);
        parents.try_emplace({section, offset}, body.read_c_string());
      }
    });
    for (const Piece& piece : pieces) {
      const auto parent = parents.find({piece.parent_section, piece.parent_offset});
      if (parent != parents.end()) {
        SymbolChoice code;
        code.start = piece.start;
        code.size = piece.size;
        code.module = module_;
        code.position = kNoPosition;  // its inlined calls are not followed
        sweep_.add_procedure(code, parent->second);
      }
    }
  }

  template <typename Visit>
  void each_symbol(const Visit& visit) const {
    bytes::ByteCursor symbols = symbols_;
    symbols.seek(kSymbolsBegin);
    while (symbols.remaining() >= 4) {
      bytes::ByteCursor body = symbols.sub(symbols.read<std::uint16_t>());
      const auto kind = body.read<std::uint16_t>();
      visit(kind, body);
    }
  }

  const bytes::ByteCursor& symbols_;
  std::uint32_t module_;
  const PdbTables& tables_;
  SymbolSweep& sweep_;
};

}  // namespace

bool add_procedures(const bytes::ByteCursor& symbols, std::uint32_t module, const PdbTables& tables,
                    SymbolSweep& sweep) {
  return ProcedureSymbols(symbols, module, tables, sweep).run();
}

}  // namespace stackpack::symbolize
