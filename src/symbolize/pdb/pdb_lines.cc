#include "symbolize/pdb/pdb_lines.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>

#include "core/sort_rows.h"
#include "symbolize/pdb/type_names.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
constexpr std::size_t kNotRead = kNoPosition - 1;

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

}  // namespace

InnermostSites::InnermostSites(const InlineTree& tree) {
  for (const SiteRange& range : tree.ranges) {
    boundaries_.push_back(range.begin);
    boundaries_.push_back(range.end);
  }
  std::sort(boundaries_.begin(), boundaries_.end());
  cut(tree);
}

// Cuts the procedure where a range begins or ends, and notes the innermost site of each piece.
void InnermostSites::cut(const InlineTree& tree) {
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  innermost_.assign(boundaries_.size(), kNoSite);
  // Deeper sites first: a piece belongs to the first that has it, and is passed over from then
  // on.
  std::vector<std::uint32_t> by_depth(tree.sites.size());
  std::iota(by_depth.begin(), by_depth.end(), 0U);
  core::sort_rows(by_depth, [&tree](std::uint32_t a, std::uint32_t b) {
    return tree.sites[a].depth > tree.sites[b].depth;
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
    const InlineSite& row = tree.sites[site];
    for (std::size_t r = row.first_range; r < row.first_range + row.range_count; ++r) {
      const auto first = static_cast<std::uint32_t>(
          std::lower_bound(boundaries_.begin(), boundaries_.end(), tree.ranges[r].begin) -
          boundaries_.begin());
      for (std::uint32_t piece = free_from(first);
           piece < boundaries_.size() && boundaries_[piece] < tree.ranges[r].end;
           piece = free_from(piece)) {
        innermost_[piece] = site;
        next_free[piece] = piece + 1;
      }
    }
  }
}

InnermostSites::Piece InnermostSites::at(std::uint32_t offset) const {
  Piece piece;
  const auto after = std::upper_bound(boundaries_.begin(), boundaries_.end(), offset);
  if (after != boundaries_.end()) {
    piece.end = *after;
  }
  if (after != boundaries_.begin()) {
    piece.begin = *(after - 1);
    piece.site = innermost_[static_cast<std::size_t>(after - 1 - boundaries_.begin())];
  }
  return piece;
}

/// Finds the lines, by object file so that each is read once.
class PdbLines::Finder {
 public:
  Finder(PdbLines& lines, const Known& known, ObjectFiles& objects, const SymbolRequest& request,
         NameCollector& names)
      : sources_(lines.sources_),
        written_(lines.written_),
        known_(known),
        objects_(objects),
        request_(request),
        names_(names) {}

  Result<bool> run() {
    const std::vector<std::uint32_t> chosen = choose_lines();
    std::vector<std::tuple<std::uint32_t, std::uint32_t>> order;
    for (std::uint32_t i = 0; i < known_.asked.size(); ++i) {
      if (known_.choices[i] && chosen[i] != kNoBlock) {
        order.emplace_back(sources_[chosen[i]].module, i);
      }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [module, i] : order) {
      if (!any_module_ || module != module_) {
        if (const Status read = read_lines(module); !read) {
          return read.error();
        }
      }
      if (!lines_) {
        continue;
      }
      if (const Status found = find_line(i, chosen[i]); !found) {
        return found.error();
      }
    }
    return add_lines();
  }

 private:
  // For each address the lines that have it: of several, those of its procedure's object file, then
  // those that begin last.
  std::vector<std::uint32_t> choose_lines() {
    core::sort_rows(sources_,
                    [](const LineSource& a, const LineSource& b) { return a.start < b.start; });
    std::vector<std::uint32_t> chosen(known_.asked.size(), kNoBlock);
    for (std::size_t i = 0; i < known_.asked.size(); ++i) {
      const std::uint32_t address = known_.asked[i].source;
      auto at = std::upper_bound(
          sources_.begin(), sources_.end(), address,
          [](std::uint32_t wanted, const LineSource& row) { return wanted < row.start; });
      // Folded functions have one start and lines in several object files.
      constexpr int kMostAliases = 64;
      for (int tries = 0; tries < kMostAliases && at != sources_.begin(); ++tries) {
        --at;
        if (address - at->start >= at->block.size) {
          continue;
        }
        const bool own = !known_.choices[i] || !known_.choices[i]->procedure ||
                         known_.choices[i]->module == at->module;
        if (own || chosen[i] == kNoBlock) {
          chosen[i] = static_cast<std::uint32_t>(at - sources_.begin());
        }
        if (own) {
          break;
        }
      }
    }
    return chosen;
  }

  Status read_lines(std::uint32_t module) {
    any_module_ = true;
    module_ = module;
    block_ = kNoBlock;
    procedure_ = kNotRead;
    lines_.reset();
    const Result<bool> there = objects_.read(module);
    if (there && *there) {
      lines_.emplace(objects_.lines(module));
    }
    return there ? Status() : Status(there.error());
  }

  Status find_line(std::uint32_t i, std::uint32_t block) {
    if (block_ != block) {
      block_ = block;
      lines_->read_entries(sources_[block].block, entries_);
    }
    if (same_answer(i)) {
      return {};
    }
    read_sites(*known_.choices[i]);
    answer(*lines_, sources_[block], i);
    if (links_.size() > request_.limits.rows) {
      return Error{ErrorCode::kLimit, kNoOffset, "pdb: too many inlined calls"};
    }
    return {};
  }

  // Whether the answer given last has this address, too.
  [[nodiscard]] bool same_answer(std::uint32_t i) const {
    if (answers_.empty()) {
      return false;
    }
    const auto& [known, answer] = answers_.back();
    return known_.asked[i].source >= answer.begin && known_.asked[i].source < answer.end &&
           known_.asked[i].moved_begin == known_.asked[known].moved_begin &&
           known_.choices[i]->name == known_.choices[known]->name;
  }

  // The inlined calls of the procedure, unless they are those read last.
  void read_sites(const SymbolChoice& choice) {
    const std::size_t position =
        choice.procedure && choice.module == module_ ? choice.position : kNoPosition;
    if (procedure_ == position) {
      return;
    }
    procedure_ = position;
    tree_ = {};
    if (position != kNoPosition && !read_inline_sites(objects_.symbols(module_), position, *lines_,
                                                      request_.limits.inline_depth, tree_)) {
      objects_.mark_damaged(module_);
    }
    innermost_ = InnermostSites(tree_);
  }

  std::uint32_t file_text(const ModuleLines& lines, std::uint32_t file) {
    const std::optional<std::uint32_t> offset = lines.name_offset(file);
    if (!offset || *offset >= known_.tables.file_names.size()) {
      return kNoText;
    }
    const std::string_view rest = std::string_view(known_.tables.file_names).substr(*offset);
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
    const std::uint32_t address = known_.asked[i].source;
    const SymbolChoice& choice = *known_.choices[i];
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
    const InnermostSites::Piece piece = innermost_.at(offset);
    if (piece.end != ~std::uint32_t{0}) {
      answer.end = std::min(answer.end, choice.start + piece.end);
    }
    answer.begin = std::max(answer.begin, choice.start + piece.begin);
    if (piece.site == kNoSite) {
      return;
    }
    chain_.clear();
    for (std::uint32_t site = piece.site; site != kNoSite; site = tree_.sites[site].parent) {
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
  Result<bool> add_lines() {
    std::vector<std::uint32_t> items;
    for (const CallLink& link : links_) {
      items.push_back(link.inlinee);
    }
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    Result<std::map<std::uint32_t, std::string>> texts = inlinee_names(known_.file, items);
    if (!texts && texts.error().code == ErrorCode::kIo) {
      return texts.error();
    }
    std::map<std::uint32_t, std::uint32_t> numbers;
    if (texts) {
      for (const auto& [item, text] : *texts) {
        numbers[item] = names_.text(text);
      }
    }
    for (const auto& [i, answer] : answers_) {
      add_line(known_.asked[i], answer, numbers);
    }
    return texts.has_value();
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
    place_code(asked, answer.begin, answer.end, line);
    names_.add_line(line);
  }

  std::vector<LineSource>& sources_;
  std::map<std::uint32_t, WrittenAt>& written_;
  const Known& known_;
  ObjectFiles& objects_;
  const SymbolRequest& request_;
  NameCollector& names_;

  // Of the object file, the block and the procedure that were read last.
  bool any_module_ = false;
  std::uint32_t module_ = 0;
  std::optional<ModuleLines> lines_;  // none: it has none
  std::uint32_t block_ = kNoBlock;
  std::size_t procedure_ = kNotRead;
  std::vector<LineEntry> entries_;
  InlineTree tree_;
  InnermostSites innermost_;
  std::vector<std::uint32_t> chain_;

  std::vector<CallLink> links_;
  std::vector<std::tuple<std::uint32_t, LineAnswer>> answers_;
};

bool PdbLines::note_blocks(std::uint32_t module, const bytes::ByteCursor& lines,
                           const PdbTables& tables, const SymbolSweep& sweep) {
  const ModuleLines read(lines);
  for (const LineBlock& block : read.blocks()) {
    const auto start = tables.rva_of(block.section, block.offset);
    if (start && sweep.asked(*start, block.size)) {
      sources_.push_back({*start, module, block});
    }
  }
  return !read.damaged();
}

Result<bool> PdbLines::find(const Known& known, ObjectFiles& objects, const SymbolRequest& request,
                            NameCollector& names) {
  return Finder(*this, known, objects, request, names).run();
}

}  // namespace stackpack::symbolize
