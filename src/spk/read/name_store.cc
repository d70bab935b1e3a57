#include "spk/read/name_store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "spk/format/layout.h"
#include "spk/format/name_codec.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

namespace {

// Visits the blocks of a section that may be missing, and sees that `rows()` are as many as it has
// items.
template <typename Decode, typename Rows>
Status read_section(BlockReader& blocks, const Directory& directory, SectionKind kind,
                    Decode decode, Rows rows) {
  const SectionRecord* const section = directory.find(kind);
  if (section == nullptr) {
    return {};
  }
  BlockReader::Lease scratch = blocks.borrow();
  if (const Status done = for_each_block(blocks, *section, *scratch, decode); !done) {
    return done;
  }
  return rows() == section->items
             ? Status{}
             : Status{Error{ErrorCode::kCorrupt, section->offset, "spk: names: number of rows"}};
}

template <typename Row>
Status read_rows(BlockReader& blocks, const Directory& directory, SectionKind kind,
                 std::uint32_t& texts, std::vector<Row>& rows) {
  return read_section(
      blocks, directory, kind,
      [&](const bytes::ByteCursor& in) { return decode_names(in, texts, rows); },
      [&rows] { return rows.size(); });
}

Status read_births(BlockReader& blocks, const Directory& directory, std::vector<CodeLine>& lines) {
  std::vector<std::uint64_t> births;
  const Status read = read_section(
      blocks, directory, SectionKind::kLineBirths,
      [&births](const bytes::ByteCursor& in) { return decode_births(in, births); },
      [&births] { return births.size(); });
  if (!read || births.empty()) {
    return read;
  }
  if (births.size() != lines.size()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: line births: number of rows"};
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].born_ns = births[i];
  }
  return {};
}

// Whether the aliases, as many as there are texts of them, come by name, then text, each once.
bool are_in_order(const Names& names, std::size_t texts) {
  const auto key = [&names](const FunctionAlias& row) {
    return std::pair(row.name, names.texts[row.alias]);
  };
  for (std::size_t i = 0; i < names.aliases.size(); ++i) {
    const FunctionAlias& row = names.aliases[i];
    if (row.name >= texts || names.texts[row.alias].empty() ||
        (i != 0 && key(names.aliases[i - 1]) >= key(row))) {
      return false;
    }
  }
  return true;
}

// Texts of aliases come after those of the other rows, in a section of their own: readers that do
// not know it find in texts what rows name, and nothing else.
Status read_aliases(BlockReader& blocks, const Directory& directory, Names& names) {
  const Error damage{ErrorCode::kCorrupt, kNoOffset, "spk: function aliases: rows"};
  const std::size_t texts = names.texts.size();
  const SectionRecord* const rows = directory.find(SectionKind::kFunctionAliases);
  const SectionRecord* const aliases = directory.find(SectionKind::kAliasTexts);
  if (rows == nullptr && aliases == nullptr) {
    return {};
  }
  // A text has a byte at least, and the bytes are in proportion to the file.
  if (rows == nullptr || aliases == nullptr || rows->items != aliases->items ||
      aliases->items > aliases->raw_bytes) {
    return damage;
  }
  Status read = read_section(
      blocks, directory, SectionKind::kAliasTexts,
      [&names](const bytes::ByteCursor& in) { return decode_texts(in, names.texts); },
      [&] { return names.texts.size() - texts; });
  if (!read) {
    return read;
  }
  read = read_section(
      blocks, directory, SectionKind::kFunctionAliases,
      [&](const bytes::ByteCursor& in) {
        const Status decoded = decode_alias_names(in, names.aliases);
        return decoded && names.aliases.size() > rows->items ? Status(damage) : decoded;
      },
      [&names] { return names.aliases.size(); });
  if (!read) {
    return read;
  }
  for (std::size_t i = 0; i < names.aliases.size(); ++i) {
    names.aliases[i].alias = static_cast<std::uint32_t>(texts + i);
  }
  return are_in_order(names, texts) ? Status{} : damage;
}

// Rows that are known to name rows that are there.
bool keeps_inline_bounds(const Names& names) {
  InlineBounds bounds;
  for (const InlinedCall& call : names.inlined) {
    bounds.add_call(call.parent);
  }
  for (const CodeLine& line : names.lines) {
    bounds.add_line(line.inlined);
  }
  return bounds.kept();
}

}  // namespace

Result<Names> read_names(BlockReader& blocks, const Directory& directory) {
  Names names;
  std::uint32_t texts = 0;
  if (const Status read =
          read_rows(blocks, directory, SectionKind::kFunctions, texts, names.functions);
      !read) {
    return read.error();
  }
  if (const Status read =
          read_rows(blocks, directory, SectionKind::kInlinedCalls, texts, names.inlined);
      !read) {
    return read.error();
  }
  if (const Status read = read_rows(blocks, directory, SectionKind::kLines, texts, names.lines);
      !read) {
    return read.error();
  }
  if (const Status read = read_section(
          blocks, directory, SectionKind::kTexts,
          [&names](const bytes::ByteCursor& in) { return decode_texts(in, names.texts); },
          [&names] { return names.texts.size(); });
      !read) {
    return read.error();
  }
  if (const Status read = read_births(blocks, directory, names.lines); !read) {
    return read.error();
  }
  const std::size_t stored_texts = names.texts.size();
  if (const Status read = read_aliases(blocks, directory, names); !read) {
    return read.error();
  }
  const SectionRecord* const module_table = directory.find(SectionKind::kModules);
  const std::uint64_t modules = module_table == nullptr ? 0 : module_table->items;
  const bool good = texts == stored_texts &&
                    std::all_of(names.functions.begin(), names.functions.end(),
                                [&](const Function& row) { return has_module(row, modules); }) &&
                    std::all_of(names.lines.begin(), names.lines.end(), [&](const CodeLine& row) {
                      return has_module(row, modules) &&
                             (row.inlined == kNoInline || row.inlined < names.inlined.size());
                    });
  if (!good) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: names: a row that is not there"};
  }
  if (!keeps_inline_bounds(names)) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: names: too many calls inlined at lines"};
  }
  return names;
}

}  // namespace stackpack::spk
