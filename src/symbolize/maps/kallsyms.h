#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/alias_rank.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// Symbols of a running kernel and its modules, as /proc/kallsyms lists them.
///
/// Lines: `ADDRESS TYPE NAME`, and for modules `[MODULE]`. Functions have the types t, T, w, W, i
/// and u; others say where a function ends. Lines that are none are counted.
/// Memory: 28 bytes a symbol, and the names of functions.
class Kallsyms {
 public:
  /// `reference`: a symbol whose address is kept, of whatever type, also where another one at its
  ///         address names it.
  /// Errors: kUnsupported when all addresses are 0, with what to do; kCorrupt when no line is a
  ///         symbol; kLimit; kIo.
  static Result<Kallsyms> read(io::ByteSource& source, std::string_view reference = {});

  /// reference_address() of a list that is read no further than to there, or without a reference
  /// to its first function. Errors: as read().
  static Result<std::optional<std::uint64_t>> find(io::ByteSource& source,
                                                   std::string_view reference);

  /// Address of the first symbol with the name of the reference in the kernel proper, as the file
  /// has it.
  [[nodiscard]] std::optional<std::uint64_t> reference_address() const {
    return reference_address_;
  }

  /// Adds a row for each function that has an address of the request, with the owner of `owner`,
  /// its place and life, and source kKallsyms. `slide`: what to add to addresses of the file, to
  /// get those of the request. It is the kernel's own: where it is not 0, the list is of another
  /// start, after which modules lie elsewhere, and theirs are left out.
  ///
  /// A function ends where the next symbol begins; the last one of the kernel, or of a module, at
  /// the end of the next page. Functions at one place have the name that alias_rank.h says.
  void name(const SymbolRequest& request, std::uint64_t slide, const CodeRange& owner,
            NameCollector& names) const;

  [[nodiscard]] std::size_t functions() const { return functions_.size(); }
  [[nodiscard]] std::uint64_t unread_lines() const { return unread_lines_; }

 private:
  struct KernelFunction {
    std::uint64_t address = 0;
    std::uint32_t name = kNoText;
    std::uint32_t module = kNoText;
    AliasRank rank{};
  };

  Status read_lines(io::ByteSource& source, std::string_view reference, bool all);
  // Whether lines that come say no more of the reference, and of whether addresses are hidden.
  [[nodiscard]] bool knows(std::string_view reference) const {
    const bool shows = !functions_.empty();
    return reference.empty() ? shows : saw_reference_ && reference_address_.has_value() == shows;
  }
  void add_line(std::string_view line, std::string_view reference, NameCollector& modules);
  void sort();
  [[nodiscard]] std::uint64_t end_of(std::size_t function) const;

  TextTable texts_;
  std::vector<KernelFunction> functions_;  // by address; one each
  std::vector<std::uint64_t> starts_;      // of symbols of all types
  std::optional<std::uint64_t> reference_address_;
  bool saw_reference_ = false;
  std::uint64_t zero_addresses_ = 0;
  std::uint64_t unread_lines_ = 0;
};

}  // namespace stackpack::symbolize
