#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"
#include "scratch/text_log.h"
#include "spk/format/column_codec.h"
#include "spk/format/name_codec.h"
#include "spk/write/section_writer.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Texts of the three fields which a row of a section of names has.
struct NameTexts {
  std::string_view name;
  std::string_view linkage;  ///< empty: none
  std::string_view file;     ///< empty: none
};

/// Writes the sections functions, inlined calls, lines, texts, line births and aliases.
///
/// The section modules, which rows name, was written before.
/// Order of calls: functions, then inlined calls, then lines, each in the order of the file, any
/// number of times; then aliases in any order, and end(). The text numbers of the rows given are
/// ignored: they follow from the texts. Sections without rows are not written. Memory: a block of
/// rows, `memory_bytes` for numbering texts, 8 bytes per line where any has a
///         birth, 4 per inlined call, aliases, the rest in scratch files.
/// Errors: kIo; kUsage: rows out of order; kLimit: too many texts, or inlined calls at lines.
class NameWriter {
 public:
  NameWriter(SectionWriter& out, const std::string& scratch_directory, std::uint64_t memory_bytes);

  Status add(Function row, const NameTexts& texts);
  /// `texts.file` is where it is called.
  Status add(InlinedCall row, const NameTexts& texts);
  /// Only `texts.file`.
  Status add(CodeLine row, const NameTexts& texts);
  /// Of functions with that name; left out when none was added.
  Status add_alias(std::string_view name, std::string_view alias);
  Status end();

  [[nodiscard]] std::uint64_t functions() const { return functions_; }
  /// Texts of rows that were longer than a file may have them, and are cut.
  [[nodiscard]] std::uint64_t cut_texts() const { return cut_texts_; }

 private:
  // A text by its hash; of texts of one hash the next ones have the hash + 1, ...
  struct KnownText {
    std::uint64_t key = 0;
    std::uint32_t number = 0;  // + 1
    std::uint32_t bytes = 0;

    [[nodiscard]] bool used() const { return number != 0; }
    [[nodiscard]] std::uint64_t hash() const { return key * 0x9E37'79B9'7F4A'7C15ULL; }
    [[nodiscard]] bool same_key(const KnownText& other) const { return key == other.key; }
  };
  // Where a text is.
  struct TextPlace {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  enum class Stage : std::uint8_t { kNone, kFunctions, kInlined, kLines, kAliases, kDone };

  // The number of a text; `add`: that is given one where it has none.
  std::uint32_t number_of(std::string_view text, bool add = true);
  Status enter(Stage stage);
  Status flush();
  template <typename TextOf>
  Status write_text_section(SectionKind kind, std::size_t count, TextOf text_of);
  Status write_texts();
  template <typename Row, typename Encode>
  Status write_blocks(SectionKind kind, std::span<const Row> rows, Encode encode);
  Status write_births();
  Status write_aliases();

  SectionWriter& out_;
  std::uint64_t modules_;
  scratch::SpillSpace space_;
  scratch::SpillTable<KnownText> known_;
  scratch::SpillArray<TextPlace> places_;
  scratch::TextLog log_;
  Status status_;
  std::uint64_t cut_texts_ = 0;
  std::uint32_t texts_ = 0;    // numbered so far
  std::uint32_t encoded_ = 0;  // of them named by blocks that are written
  Stage stage_ = Stage::kNone;
  std::vector<Function> function_rows_;
  std::vector<InlinedCall> inlined_rows_;
  std::vector<CodeLine> line_rows_;
  std::vector<std::pair<std::uint32_t, std::string>> aliases_;  // text number of the name
  std::vector<std::uint64_t> births_;  // of lines; empty as long as none has any
  Function last_function_;
  CodeLine last_line_;
  std::uint64_t functions_ = 0;
  std::uint64_t inlined_ = 0;
  InlineBounds inline_bounds_;
  std::uint64_t lines_ = 0;
  BlockContent content_;
  std::string scratch_;
};

}  // namespace stackpack::spk
