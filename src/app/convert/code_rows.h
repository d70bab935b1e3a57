#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/function_recorder.h"
#include "core/string_table.h"
#include "spk/write/name_writer.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Inlined calls and lines of functions, kept until all functions are written.
///
/// Memory: each distinct text and inlined call once, 64 bytes a line. Only imported profiles have
/// any, and their tables are in memory as well.
class CodeRows {
 public:
  /// Keeps what is known of the code of a function. In the order of the functions.
  void add(const CodeRange& range, const capture::CodeFact& code);

  Status write(spk::NameWriter& names) const;

 private:
  using CallKey =
      std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

  std::uint32_t text(std::string_view text);
  [[nodiscard]] std::string_view view(std::uint32_t text) const;

  core::StringTable texts_;
  std::map<CallKey, std::uint32_t> calls_;
  std::vector<InlinedCall> inlined_;  // with texts of texts_
  std::vector<CodeLine> lines_;
};

/// Writes all rows of `names`, which are in the order of a file; the caller ends the writer.
/// Errors: those of the writer.
Status write_rows(const Names& names, spk::NameWriter& writer);

}  // namespace stackpack::app
