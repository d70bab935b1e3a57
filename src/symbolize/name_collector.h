#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/index_table.h"
#include "stackpack/names.h"
#include "symbolize/read_losses.h"

namespace stackpack::symbolize {

/// Builds a stackpack::Names, each text and each inlined call once.
///
/// Use: get numbers of texts, add rows in any order, finish() once. Owner and place of the rows are
/// the caller's: a reader of one image may leave the module 0.
/// Memory: what the names take, plus 8 to 16 bytes a text and an inlined call.
class NameCollector {
 public:
  /// The number of a text; kNoText for an empty one.
  std::uint32_t text(std::string_view text);

  void add_function(const Function& function) { names_.functions.push_back(function); }

  /// The row of the call: that of an equal one if there is any. Its parent was added before.
  std::uint32_t add_call(const InlinedCall& call);

  void add_line(const CodeLine& line) { names_.lines.push_back(line); }

  /// Text of a number given before.
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
    return names_.texts[number];
  }

  /// For the reader to count in.
  ReadLosses& losses() { return losses_; }

  /// Functions and lines in the order of a file, equal rows once. Of functions that begin and were
  /// born together the one added last comes last.
  [[nodiscard]] Names finish() &&;

 private:
  Names names_;
  ReadLosses losses_;
  core::IndexTable texts_;
  core::IndexTable calls_;
};

}  // namespace stackpack::symbolize
