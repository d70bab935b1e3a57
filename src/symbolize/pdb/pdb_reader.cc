#include "symbolize/pdb/pdb_reader.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "symbolize/pdb/codeview_kinds.h"
#include "symbolize/pdb/inline_sites.h"
#include "symbolize/pdb/module_lines.h"
#include "symbolize/pdb/symbol_sweep.h"
#include "symbolize/pdb/type_names.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kSymbolsBegin = 4;
constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
constexpr std::size_t kNoPosition = ~std::size_t{0};
constexpr std::size_t kNotRead = kNoPosition - 1;

// An address asked for, where it is in the image and where it was before code was moved.
struct AskedAddress {
  std::uint32_t source = 0;
  std::uint32_t image = 0;
  // The bytes around it that were moved together.
  std::uint32_t moved_begin = 0;
  std::uint64_t moved_end = std::uint64_t{1} << 32;
};

// Lines that have an address, and of which object file they are.
struct LineSource {
  std::uint32_t start = 0;
  std::uint32_t module = 0;
  LineBlock block;
};

// A call that became part of the code at an address.
struct CallLink {
  std::uint32_t inlinee = 0;
  std::uint32_t call_file = kNoText;
  std::uint32_t call_line = 0;
};

// Code with one line and one chain of inlined calls, outermost first.
struct LineAnswer {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t file = kNoText;
  std::uint32_t line = 0;
  std::size_t first_link = 0;
  std::size_t link_count = 0;
};

// Where a function begins, by the lines.
struct WrittenAt {
  std::uint32_t file = kNoText;
  std::uint32_t line = 0;
};

std::vector<AskedAddress> asked_addresses(std::span<const std::uint64_t> addresses,
                                          const std::vector<OmapEntry>& moves) {
  std::vector<AskedAddress> asked;
  asked.reserve(addresses.size());
  for (const std::uint64_t address : addresses) {
    if (address > ~std::uint32_t{0}) {
      break;
    }
    AskedAddress row;
    row.image = static_cast<std::uint32_t>(address);
    row.source = row.image;
    if (!moves.empty()) {
      const auto after = std::upper_bound(
          moves.begin(), moves.end(), row.image,
          [](std::uint32_t wanted, const OmapEntry& entry) { return wanted < entry.from; });
      if (after == moves.begin() || (after - 1)->to == 0) {
        continue;  // code that the optimizer made
      }
      row.moved_begin = (after - 1)->from;
      row.moved_end = after == moves.end() ? row.moved_end : after->from;
      row.source = (after - 1)->to + (row.image - row.moved_begin);
    }
    asked.push_back(row);
  }
  std::stable_sort(asked.begin(), asked.end(), [](const AskedAddress& a, const AskedAddress& b) {
    return a.source < b.source;
  });
  return asked;
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
        damaged_(tables.modules.size(), false) {}

  Result<PdbDamage> run() {
    damage_.tables += tables_.damaged;
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
      if (const Status found = find_lines(); !found) {
        return found.error();
      }
    }
    add_functions();
    damage_.modules =
        static_cast<std::uint64_t>(std::count(damaged_.begin(), damaged_.end(), true));
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

  // The symbols and lines of an object file; false when there are none.
  Result<bool> read_module(std::uint32_t module) {
    const PdbModule& row = tables_.modules[module];
    if (row.stream == kNoPdbStream || row.symbol_bytes < kSymbolsBegin) {
      return false;
    }
    const std::uint64_t size =
        std::uint64_t{row.symbol_bytes} +
        (request_.inlines ? std::uint64_t{row.old_line_bytes} + row.line_bytes : 0);
    const Status read = file_.read(row.stream, 0, size, module_bytes_);
    if (!read && read.error().code == ErrorCode::kTruncated) {
      damaged_[module] = true;
      return false;
    }
    if (!read) {
      return read.error();
    }
    return true;
  }

  [[nodiscard]] bytes::ByteCursor symbols_of(std::uint32_t module) const {
    const PdbModule& row = tables_.modules[module];
    return {std::span(module_bytes_).first(row.symbol_bytes), file_.file_offset(row.stream, 0)};
  }
  [[nodiscard]] bytes::ByteCursor lines_of(std::uint32_t module) const {
    const PdbModule& row = tables_.modules[module];
    const std::size_t begin = std::size_t{row.symbol_bytes} + row.old_line_bytes;
    return {std::span(module_bytes_).subspan(begin, row.line_bytes),
            file_.file_offset(row.stream, begin)};
  }

  Status sweep_module(std::uint32_t module) {
    const Result<bool> there = read_module(module);
    if (!there) {
      return there.error();
    }
    if (!*there) {
      return {};
    }
    const bool whole = sweep_symbols(module);
    bool lines_whole = true;
    if (request_.inlines) {
      const ModuleLines lines(lines_of(module));
      lines_whole = !lines.damaged();
      for (const LineBlock& block : lines.blocks()) {
        const auto start = tables_.rva_of(block.section, block.offset);
        if (start && sweep_.asked(*start, block.size)) {
          line_sources_.push_back({*start, module, block});
        }
      }
    }
    if (!whole || !lines_whole) {
      damaged_[module] = true;
    }
    return {};
  }

  // False where a record is damaged; what came before it is kept.
  bool sweep_symbols(std::uint32_t module) {
    bytes::ByteCursor symbols = symbols_of(module);
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
        add_procedure(module, position, body);
      } else if (kind == codeview::kThunk) {
        add_thunk(module, position, body);
      }
    }
    if (separated) {
      add_separated_code(module);
    }
    return true;
  }

  void add_procedure(std::uint32_t module, std::size_t position, bytes::ByteCursor body) {
    body.skip(12);  // places of the parent, the end and the next one
    SymbolChoice procedure;
    procedure.size = body.read<std::uint32_t>();
    body.skip(12);  // ends of prologue and epilogue, type
    const auto offset = body.read<std::uint32_t>();
    const auto section = body.read<std::uint16_t>();
    body.skip(1);  // flags
    add_code(module, position, section, offset, procedure, body);
  }

  void add_thunk(std::uint32_t module, std::size_t position, bytes::ByteCursor body) {
    body.skip(12);
    const auto offset = body.read<std::uint32_t>();
    const auto section = body.read<std::uint16_t>();
    SymbolChoice thunk;
    thunk.size = body.read<std::uint16_t>();
    body.skip(1);  // kind
    add_code(module, position, section, offset, thunk, body);
  }

  void add_code(std::uint32_t module, std::size_t position, std::uint16_t section,
                std::uint32_t offset, SymbolChoice code, bytes::ByteCursor name) {
    const std::optional<std::uint32_t> start = tables_.rva_of(section, offset);
    if (name.ok() && start) {
      code.start = *start;
      code.module = module;
      code.position = position;
      sweep_.add_procedure(code, name.read_c_string());
    }
  }

  // Pieces of procedures elsewhere have the names of their procedures.
  void add_separated_code(std::uint32_t module) {
    struct Piece {
      std::uint32_t parent_offset = 0;
      std::uint16_t parent_section = 0;
      std::uint32_t start = 0;
      std::uint32_t size = 0;
    };
    std::vector<Piece> pieces;
    std::map<std::tuple<std::uint16_t, std::uint32_t>, std::string_view> parents;
    each_symbol(module, [&](std::uint16_t kind, bytes::ByteCursor body) {
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
        code.module = module;
        code.position = kNoPosition;  // its inlined calls are not followed
        sweep_.add_procedure(code, parent->second);
      }
    }
  }

  template <typename Visit>
  void each_symbol(std::uint32_t module, const Visit& visit) const {
    bytes::ByteCursor symbols = symbols_of(module);
    symbols.seek(kSymbolsBegin);
    while (symbols.remaining() >= 4) {
      bytes::ByteCursor body = symbols.sub(symbols.read<std::uint16_t>());
      const auto kind = body.read<std::uint16_t>();
      visit(kind, body);
    }
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

  // For each address the lines that have it: of several, those of its procedure's object file, then
  // those that begin last.
  std::vector<std::uint32_t> choose_lines() {
    std::stable_sort(line_sources_.begin(), line_sources_.end(),
                     [](const LineSource& a, const LineSource& b) { return a.start < b.start; });
    std::vector<std::uint32_t> chosen(asked_.size(), kNoBlock);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const std::uint32_t address = asked_[i].source;
      auto at = std::upper_bound(
          line_sources_.begin(), line_sources_.end(), address,
          [](std::uint32_t wanted, const LineSource& row) { return wanted < row.start; });
      // Folded functions have one start and lines in several object files.
      constexpr int kMostAliases = 64;
      for (int tries = 0; tries < kMostAliases && at != line_sources_.begin(); ++tries) {
        --at;
        if (address - at->start >= at->block.size) {
          continue;
        }
        const bool own =
            !choices_[i] || !choices_[i]->procedure || choices_[i]->module == at->module;
        if (own || chosen[i] == kNoBlock) {
          chosen[i] = static_cast<std::uint32_t>(at - line_sources_.begin());
        }
        if (own) {
          break;
        }
      }
    }
    return chosen;
  }

  Status find_lines() {
    const std::vector<std::uint32_t> chosen = choose_lines();
    // By object file, so that each is read once.
    std::vector<std::tuple<std::uint32_t, std::uint32_t>> order;
    for (std::uint32_t i = 0; i < asked_.size(); ++i) {
      if (choices_[i] && chosen[i] != kNoBlock) {
        order.emplace_back(line_sources_[chosen[i]].module, i);
      }
    }
    std::sort(order.begin(), order.end());
    std::uint32_t module = 0;
    std::optional<ModuleLines> lines;
    std::uint32_t block = kNoBlock;
    std::size_t procedure = kNotRead;
    for (const auto& [wanted_module, i] : order) {
      if (!lines || wanted_module != module) {
        module = wanted_module;
        const Result<bool> there = read_module(module);
        if (!there) {
          return there.error();
        }
        lines.reset();
        if (!*there) {
          continue;
        }
        lines.emplace(lines_of(module));
        block = kNoBlock;
        procedure = kNotRead;
      }
      if (block != chosen[i]) {
        block = chosen[i];
        lines->read_entries(line_sources_[block].block, entries_);
      }
      if (same_answer(i)) {
        continue;
      }
      read_sites(module, *lines, *choices_[i], procedure);
      answer(*lines, line_sources_[block], i);
      if (links_.size() > request_.limits.rows) {
        return Error{ErrorCode::kLimit, kNoOffset, "pdb: too many inlined calls"};
      }
    }
    return add_lines();
  }

  // Whether the answer given last has this address, too.
  [[nodiscard]] bool same_answer(std::uint32_t i) const {
    if (answers_.empty()) {
      return false;
    }
    const auto& [known, answer] = answers_.back();
    return asked_[i].source >= answer.begin && asked_[i].source < answer.end &&
           asked_[i].moved_begin == asked_[known].moved_begin &&
           choices_[i]->name == choices_[known]->name;
  }

  // The inlined calls of the procedure, unless they are those read last.
  void read_sites(std::uint32_t module, const ModuleLines& lines, const SymbolChoice& choice,
                  std::size_t& procedure) {
    const std::size_t position =
        choice.procedure && choice.module == module ? choice.position : kNoPosition;
    if (procedure == position) {
      return;
    }
    procedure = position;
    tree_ = {};
    if (position != kNoPosition && !read_inline_sites(symbols_of(module), position, lines,
                                                      request_.limits.inline_depth, tree_)) {
      damaged_[module] = true;
    }
    boundaries_.clear();
    for (const SiteRange& range : tree_.ranges) {
      boundaries_.push_back(range.begin);
      boundaries_.push_back(range.end);
    }
    std::sort(boundaries_.begin(), boundaries_.end());
    find_innermost();
  }

  // Cuts the procedure where a range begins or ends, and notes the innermost site of each piece.
  void find_innermost() {
    boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
    innermost_.assign(boundaries_.size(), kNoSite);
    // Deeper sites first: a piece belongs to the first that has it, and is passed over from then
    // on.
    std::vector<std::uint32_t> by_depth(tree_.sites.size());
    std::iota(by_depth.begin(), by_depth.end(), 0U);
    std::stable_sort(by_depth.begin(), by_depth.end(), [this](std::uint32_t a, std::uint32_t b) {
      return tree_.sites[a].depth > tree_.sites[b].depth;
    });
    std::vector<std::uint32_t> next_free(boundaries_.size() + 1);
    std::iota(next_free.begin(), next_free.end(), 0U);
    const auto free_from = [&](std::uint32_t piece) {
      while (next_free[piece] != piece) {
        next_free[piece] = next_free[next_free[piece]];
        piece = next_free[piece];
      }
      return piece;
    };
    for (const std::uint32_t site : by_depth) {
      const InlineSite& row = tree_.sites[site];
      for (std::size_t r = row.first_range; r < row.first_range + row.range_count; ++r) {
        const auto first = static_cast<std::uint32_t>(
            std::lower_bound(boundaries_.begin(), boundaries_.end(), tree_.ranges[r].begin) -
            boundaries_.begin());
        for (std::uint32_t piece = free_from(first);
             piece < boundaries_.size() && boundaries_[piece] < tree_.ranges[r].end;
             piece = free_from(piece)) {
          innermost_[piece] = site;
          next_free[piece] = piece + 1;
        }
      }
    }
  }

  std::uint32_t file_text(const ModuleLines& lines, std::uint32_t file) {
    const std::optional<std::uint32_t> offset = lines.name_offset(file);
    if (!offset || *offset >= tables_.file_names.size()) {
      return kNoText;
    }
    const std::string_view rest = std::string_view(tables_.file_names).substr(*offset);
    return names_.text(rest.substr(0, rest.find('\0')));
  }

  // The entry that has an offset; null when none has.
  [[nodiscard]] const LineEntry* entry_at(std::uint32_t offset) const {
    const auto after = std::upper_bound(
        entries_.begin(), entries_.end(), offset,
        [](std::uint32_t wanted, const LineEntry& entry) { return wanted < entry.offset; });
    return after == entries_.begin() ? nullptr : &*(after - 1);
  }

  void answer(const ModuleLines& lines, const LineSource& source, std::uint32_t i) {
    const std::uint32_t address = asked_[i].source;
    const SymbolChoice& choice = *choices_[i];
    const LineEntry* const entry = entry_at(address - source.start);
    LineAnswer answer;
    answer.begin = std::max(choice.start, source.start);
    answer.end = std::min(choice.start + choice.size, source.start + source.block.size);
    if (entry != nullptr) {
      answer.begin = std::max(answer.begin, source.start + entry->offset);
      answer.line = entry->line;
      answer.file = entry->line == 0 ? kNoText : file_text(lines, entry->file);
      const LineEntry* next = entry + 1;
      if (next != entries_.data() + entries_.size()) {
        answer.end = std::min(answer.end, source.start + next->offset);
      }
      note_written(lines, source, choice);
    }
    add_chain(lines, choice, address, answer);
    if (answer.begin <= address && address < answer.end &&
        (answer.line != 0 || answer.link_count != 0)) {
      answers_.emplace_back(i, answer);
    }
  }

  void note_written(const ModuleLines& lines, const LineSource& source,
                    const SymbolChoice& choice) {
    if (!choice.procedure || choice.start < source.start || written_.contains(choice.name)) {
      return;
    }
    const LineEntry* const first = entry_at(choice.start - source.start);
    if (first != nullptr && first->line != 0) {
      written_[choice.name] = {file_text(lines, first->file), first->line};
    }
  }

  // The calls from the procedure to the innermost site; the line becomes that of the site.
  void add_chain(const ModuleLines& lines, const SymbolChoice& choice, std::uint32_t address,
                 LineAnswer& answer) {
    const std::uint32_t offset = address - choice.start;
    const auto after = std::upper_bound(boundaries_.begin(), boundaries_.end(), offset);
    if (after != boundaries_.end()) {
      answer.end = std::min(answer.end, choice.start + *after);
    }
    if (after == boundaries_.begin()) {
      return;
    }
    answer.begin = std::max(answer.begin, choice.start + *(after - 1));
    const auto piece = static_cast<std::size_t>(after - 1 - boundaries_.begin());
    if (innermost_[piece] == kNoSite) {
      return;
    }
    chain_.clear();
    for (std::uint32_t site = innermost_[piece]; site != kNoSite; site = tree_.sites[site].parent) {
      chain_.push_back(site);
    }
    answer.first_link = links_.size();
    answer.link_count = chain_.size();
    for (auto site = chain_.rbegin(); site != chain_.rend(); ++site) {
      const InlineSite& row = tree_.sites[*site];
      links_.push_back({row.inlinee, answer.file, answer.line});
      const SiteRange* const range = tree_.range_at(row, offset);
      const bool known = range != nullptr && range->line != 0;
      answer.file = known ? file_text(lines, range->file) : kNoText;
      answer.line = known ? range->line : 0;
    }
  }

  // The names of what was inlined are read last, all at once.
  Status add_lines() {
    std::vector<std::uint32_t> items;
    for (const CallLink& link : links_) {
      items.push_back(link.inlinee);
    }
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    Result<std::map<std::uint32_t, std::string>> texts = inlinee_names(file_, items);
    if (!texts && texts.error().code == ErrorCode::kIo) {
      return texts.error();
    }
    std::map<std::uint32_t, std::uint32_t> numbers;
    if (texts) {
      for (const auto& [item, text] : *texts) {
        numbers[item] = names_.text(text);
      }
    } else {
      ++damage_.tables;
    }
    for (const auto& [i, answer] : answers_) {
      add_line(asked_[i], answer, numbers);
    }
    return {};
  }

  void add_line(const AskedAddress& asked, const LineAnswer& answer,
                const std::map<std::uint32_t, std::uint32_t>& numbers) {
    CodeLine line;
    line.file = answer.file;
    line.line = answer.line;
    for (std::size_t k = 0; k < answer.link_count; ++k) {
      const CallLink& link = links_[answer.first_link + k];
      const auto name = numbers.find(link.inlinee);
      if (name == numbers.end()) {
        // A call without a name would break the chain: what is inside belongs to the one around.
        line.file = link.call_file;
        line.line = link.call_line;
        break;
      }
      InlinedCall call;
      call.parent = line.inlined;
      call.name = name->second;
      call.call_file = link.call_file;
      call.call_line = link.call_line;
      line.inlined = names_.add_call(call);
    }
    place(asked, answer.begin, answer.end, line);
    names_.add_line(line);
  }

  // From before code was moved to the image: as far as it was moved together with the address.
  static void place(const AskedAddress& asked, std::uint32_t begin, std::uint32_t end,
                    CodeRange& range) {
    const std::uint64_t before = std::min(asked.source - begin, asked.image - asked.moved_begin);
    const std::uint64_t after =
        std::min<std::uint64_t>(end - asked.source, asked.moved_end - asked.image);
    range.owner = FunctionOwner::kImage;
    range.start = asked.image - before;
    range.size = before + after;
  }

  void add_functions() {
    std::vector<std::tuple<bool, Function>> rows;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!choices_[i]) {
        continue;
      }
      const SymbolChoice& choice = *choices_[i];
      Function row;
      place(asked_[i], choice.start, choice.start + choice.size, row);
      if (!rows.empty() && std::get<Function>(rows.back()).start == row.start &&
          std::get<bool>(rows.back()) == choice.procedure) {
        continue;
      }
      row.source = FunctionSource::kPdb;
      row.name = names_.text(sweep_.texts()[choice.name]);
      if (row.name == kNoText) {
        continue;
      }
      if (const auto written = written_.find(choice.name); written != written_.end()) {
        row.file = written->second.file;
        row.line = written->second.line;
      }
      rows.emplace_back(choice.procedure, row);
    }
    // Of functions that begin together the last one counts: procedures.
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::get<bool>(a) < std::get<bool>(b);
    });
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
  std::vector<bool> damaged_;  // by object file
  std::vector<std::optional<SymbolChoice>> choices_;
  std::vector<LineSource> line_sources_;
  std::vector<std::byte> module_bytes_;

  // Of the block and the procedure that were read last.
  std::vector<LineEntry> entries_;
  InlineTree tree_;
  std::vector<std::uint32_t> boundaries_;
  std::vector<std::uint32_t> innermost_;  // by the boundary that a piece begins at
  std::vector<std::uint32_t> chain_;

  std::vector<CallLink> links_;
  std::vector<std::tuple<std::uint32_t, LineAnswer>> answers_;
  std::map<std::uint32_t, WrittenAt> written_;  // by name in the sweep
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
