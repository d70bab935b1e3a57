#include "symbolize/pdb/pdb_reader.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "bytes/byte_cursor.h"
#include "core/sort_rows.h"
#include "symbolize/pdb/asked_code.h"
#include "symbolize/pdb/codeview_kinds.h"
#include "symbolize/pdb/object_files.h"
#include "symbolize/pdb/pdb_lines.h"
#include "symbolize/pdb/pdb_tables.h"
#include "symbolize/pdb/symbol_sweep.h"

namespace stackpack::symbolize {

namespace {

// The symbols of one object file.
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

// Adds the procedures, thunks and separated pieces of procedures among the symbols of an object
// file. False where a record is damaged; what came before it is kept.
bool add_procedures(const bytes::ByteCursor& symbols, std::uint32_t module, const PdbTables& tables,
                    SymbolSweep& sweep) {
  return ProcedureSymbols(symbols, module, tables, sweep).run();
}

// Names one list of addresses; see PdbReader::name.
class PdbNaming {
 public:
  PdbNaming(const MsfFile& file, const PdbTables& tables, const SymbolRequest& request,
            NameCollector& names)
      : file_(file),
        tables_(tables),
        request_(request),
        names_(names),
        asked_(asked_addresses(request.addresses, tables.to_source)),
        sources_(source_addresses(asked_)),
        sweep_(sources_, tables),
        objects_(file, tables, request.inlines) {}

  Result<PdbDamage> run() {
    damage_.tables += tables_.damaged;
    names_.losses().functions_there =
        tables_.modules.size() + (tables_.symbol_stream == kNoPdbStream ? 0U : 1U);
    if (asked_.empty()) {
      return damage_;
    }
    for (std::uint32_t module = 0; module < tables_.modules.size(); ++module) {
      if (const Status swept = sweep_module(module); !swept) {
        return swept.error();
      }
    }
    if (const Status swept = sweep_publics(); !swept) {
      return swept.error();
    }
    choices_ = sweep_.choose();
    if (request_.inlines) {
      const Result<bool> whole =
          lines_.find({file_, tables_, asked_, choices_}, objects_, request_, names_);
      if (!whole) {
        return whole.error();
      }
      damage_.tables += *whole ? 0U : 1U;
    }
    add_functions();
    damage_.modules = objects_.damaged();
    return damage_;
  }

 private:
  static std::vector<std::uint32_t> source_addresses(const std::vector<AskedAddress>& asked) {
    std::vector<std::uint32_t> addresses;
    addresses.reserve(asked.size());
    for (const AskedAddress& row : asked) {
      addresses.push_back(row.source);
    }
    return addresses;
  }

  Status sweep_module(std::uint32_t module) {
    const Result<bool> there = objects_.read(module);
    if (!there || !*there) {
      return there ? Status() : Status(there.error());
    }
    const bool symbols = add_procedures(objects_.symbols(module), module, tables_, sweep_);
    const bool lines =
        !request_.inlines || lines_.note_blocks(module, objects_.lines(module), tables_, sweep_);
    if (!symbols || !lines) {
      objects_.mark_damaged(module);
    }
    return {};
  }

  Status sweep_publics() {
    const std::uint16_t stream = tables_.symbol_stream;
    if (stream == kNoPdbStream) {
      return {};
    }
    const Status read = each_pdb_record(
        file_, stream, 0, file_.stream_size(stream), [this](const PdbRecord& record) {
          if (record.kind != codeview::kPublic) {
            return true;
          }
          bytes::ByteCursor body = record.body;
          const auto flags = body.read<std::uint32_t>();
          const auto offset = body.read<std::uint32_t>();
          const auto section = body.read<std::uint16_t>();
          const std::optional<std::uint32_t> start = tables_.rva_of(section, offset);
          if (body.ok() && start) {
            sweep_.add_public(*start, flags, body.read_c_string());
          }
          return true;
        });
    if (!read && read.error().code == ErrorCode::kIo) {
      return read;
    }
    damage_.tables += read ? 0U : 1U;
    return {};
  }

  void add_functions() {
    std::vector<std::tuple<bool, Function>> rows;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!choices_[i]) {
        continue;
      }
      const SymbolChoice& choice = *choices_[i];
      Function row;
      place_code(asked_[i], choice.start, choice.start + choice.size, row);
      if (!rows.empty() && std::get<Function>(rows.back()).start == row.start &&
          std::get<bool>(rows.back()) == choice.procedure) {
        continue;
      }
      row.source = FunctionSource::kPdb;
      row.name = names_.text(sweep_.texts()[choice.name]);
      if (row.name == kNoText) {
        continue;
      }
      if (const auto written = lines_.written().find(choice.name);
          written != lines_.written().end()) {
        row.file = written->second.file;
        row.line = written->second.line;
      }
      rows.emplace_back(choice.procedure, row);
    }
    // Of functions that begin together the last one counts: procedures.
    core::sort_rows(
        rows, [](const auto& a, const auto& b) { return std::get<bool>(a) < std::get<bool>(b); });
    for (const auto& row : rows) {
      names_.add_function(std::get<Function>(row));
    }
  }

  const MsfFile& file_;
  const PdbTables& tables_;
  const SymbolRequest& request_;
  NameCollector& names_;
  PdbDamage damage_;
  std::vector<AskedAddress> asked_;
  std::vector<std::uint32_t> sources_;
  SymbolSweep sweep_;
  ObjectFiles objects_;
  PdbLines lines_;
  std::vector<std::optional<SymbolChoice>> choices_;
};

}  // namespace

Result<PdbReader> PdbReader::open(io::ByteSource& source) {
  Result<MsfFile> file = MsfFile::open(source);
  if (!file) {
    return file.error();
  }
  Result<PdbTables> tables = read_pdb_tables(*file);
  if (!tables) {
    return tables.error();
  }
  return PdbReader(std::move(*file), std::move(*tables));
}

bool PdbReader::fits(const PdbIdentity& image) const {
  return image.guid == tables_.identity.guid &&
         (image.age == tables_.identity.age || image.age == tables_.info_age);
}

Result<PdbDamage> PdbReader::name(const SymbolRequest& request, NameCollector& names) const {
  return PdbNaming(file_, tables_, request, names).run();
}

}  // namespace stackpack::symbolize
