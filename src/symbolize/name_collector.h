#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/index_table.h"
#include "stackpack/names.h"

namespace stackpack::symbolize {

/// What a reader of symbol files found and could not use.
struct ReadLosses {
  /// Tables, packed sections and units of debug information that cannot be read, or not to the end.
  std::uint64_t damaged_parts = 0;
  /// Files of split debug information that a file names and that are not there, or may not be read.
  std::uint64_t missing_files = 0;
  /// 1: the file, whose build id could not be looked at before, is of another build.
  std::uint64_t other_builds = 0;
  /// 1: the symbol that says how far the kernel was moved is not in it.
  std::uint64_t kernel_not_placed = 0;
  /// Inlined calls that have no name here: it is in a file that several share, and that is missing.
  std::uint64_t nameless_calls = 0;
  /// Names that the compiler encoded and that nothing here can read: they stay as linked.
  std::uint64_t unread_names = 0;
  /// Above 0: there are functions, whether one has any of the addresses or not.
  std::uint64_t functions_there = 0;

  friend bool operator==(const ReadLosses&, const ReadLosses&) = default;
};

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

  /// Functions of the name `name` are also called `alias`.
  void add_alias(std::uint32_t name, std::uint32_t alias) {
    if (name != alias) {
      names_.aliases.push_back({name, alias});
    }
  }

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
