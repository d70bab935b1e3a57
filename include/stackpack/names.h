// Names as a .spk file keeps them: functions, inlined calls, lines. See symbols.h for asking which
// of them an address has.
//
// Plain values: rows name texts and other rows by number, and own no memory of their own. They may
// be read by any number of threads while none changes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"

namespace stackpack {

inline constexpr std::uint32_t kNoText = ~std::uint32_t{0};    ///< in place of a text's number
inline constexpr std::uint32_t kNoInline = ~std::uint32_t{0};  ///< in place of a row of inlined

/// The word of a source in listings and exports.
[[nodiscard]] constexpr std::string_view source_name(FunctionSource source) {
  constexpr std::array<std::string_view, kFunctionSourceCount> kNames{
      "unknown",      "clr",         "jscript",   "ksymbol",   "bpf",           "simpleperf",
      "folded",       "pprof",       "symtab",    "dynsym",    "gnu-debugdata", "dwarf",
      "pdb",          "pe-export",   "kallsyms",  "perf-map",  "jitdump",       "otlp.beam",
      "otlp.cpython", "otlp.dotnet", "otlp.go",   "otlp.jvm",  "otlp.kernel",   "otlp.native",
      "otlp.perl",    "otlp.php",    "otlp.ruby", "otlp.rust", "otlp.v8js"};
  const auto number = static_cast<std::size_t>(source);
  return number < kNames.size() ? kNames[number] : kNames.front();
}

/// The type of frame that an OpenTelemetry profile says of a function: `go`. Empty: none.
[[nodiscard]] constexpr std::string_view frame_type_of(FunctionSource source) {
  constexpr std::string_view kPrefix = "otlp.";
  const std::string_view name = source_name(source);
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
}

/// The source of that type; kUnknown: there is none.
[[nodiscard]] constexpr FunctionSource source_of_frame_type(std::string_view type) {
  for (unsigned number = 0; number < kFunctionSourceCount; ++number) {
    const auto source = static_cast<FunctionSource>(number);
    if (!type.empty() && frame_type_of(source) == type) {
      return source;
    }
  }
  return FunctionSource::kUnknown;
}

/// Texts by number, counted from 0 in the order in which they were added. Holds the bytes of all
/// of them in one piece, as the capture has them: usually UTF-8, but that is not checked.
class TextTable {
 public:
  /// Copies `text`. What operator[] gave before is not valid any more.
  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

  /// Empty for kNoText. Valid until a text is added.
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
    if (number >= ends_.size()) {
      return {};
    }
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
  }

  friend bool operator==(const TextTable&, const TextTable&) = default;

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

/// Bytes of code. Which addresses `start` is one of depends on the owner.
struct CodeRange {
  FunctionOwner owner = FunctionOwner::kProcess;
  std::uint32_t pid = kKernelPid;        ///< kProcess: the process; else kKernelPid
  std::uint64_t life_ns = kUnknownTime;  ///< kProcess: start of its life; unknown: the first one
  /// kImage: a row of the modules; it stands for all rows with the same path and build id.
  std::uint32_t module = 0;
  std::uint64_t start = 0;  ///< address; kImage: offset in the file
  std::uint64_t size = 0;   ///< above 0

  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

/// A function and where it lies. Of several that have an address the one counts that was born last
/// before the time in question, else the one born first.
struct Function : CodeRange {
  std::uint64_t born_ns = kUnknownTime;  ///< unknown: as early as its owner
  FunctionSource source = FunctionSource::kUnknown;
  std::uint32_t name = kNoText;     ///< as people read it
  std::uint32_t linkage = kNoText;  ///< as linked; none: the same as `name`
  std::uint32_t file = kNoText;     ///< where it is written
  std::uint32_t line = 0;           ///< in `file`; 0: not known

  friend bool operator==(const Function&, const Function&) = default;
};

/// What a function is called, too. Rows name texts; all functions of that name have the alias.
struct FunctionAlias {
  std::uint32_t name = kNoText;   ///< of functions
  std::uint32_t alias = kNoText;  ///< as people read it

  friend bool operator==(const FunctionAlias&, const FunctionAlias&) = default;
};

/// The aliases of one name. Copies share them.
struct AliasList {
  std::shared_ptr<const std::vector<std::string>> texts{};  ///< null: none

  friend bool operator==(const AliasList& a, const AliasList& b) {
    return a.texts == b.texts || (a.texts && b.texts && *a.texts == *b.texts);
  }
};

/// A function whose code became part of another one's. Rows form trees, whose roots are inlined
/// into the function itself; every row comes after its parent.
struct InlinedCall {
  /// An earlier row, into which it was inlined; none: into the function.
  std::uint32_t parent = kNoInline;
  std::uint32_t name = kNoText;       ///< as people read it
  std::uint32_t linkage = kNoText;    ///< as linked; none: the same as `name`
  std::uint32_t call_file = kNoText;  ///< where it is called
  std::uint32_t call_line = 0;        ///< in `call_file`; 0: not known

  friend bool operator==(const InlinedCall&, const InlinedCall&) = default;
};

/// Bytes that were made of one line.
struct CodeLine : CodeRange {
  /// Of the function that was born then, and of no other that had these bytes; unknown: of each.
  std::uint64_t born_ns = kUnknownTime;
  std::uint32_t inlined = kNoInline;  ///< row of the innermost inlined call they belong to
  std::uint32_t file = kNoText;       ///< where that line is
  std::uint32_t line = 0;             ///< 0: not known

  friend bool operator==(const CodeLine&, const CodeLine&) = default;
};

/// All of them. Functions and lines come by owner, pid or module, start, life; then functions by
/// birth.
struct Names {
  TextTable texts;                       ///< of all rows
  std::vector<Function> functions;       ///< may overlap: see Function
  std::vector<InlinedCall> inlined;      ///< parents first
  std::vector<CodeLine> lines;           ///< those of one owner and birth do not overlap
  std::vector<FunctionAlias> aliases{};  ///< by name; each pair once

  friend bool operator==(const Names&, const Names&) = default;
};

}  // namespace stackpack
