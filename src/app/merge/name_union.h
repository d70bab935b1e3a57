#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/merge/image_table.h"
#include "core/number_table.h"
#include "core/string_table.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// All that the inputs of a merge say about names, each row once: of images by offset, and frames
/// that are nothing but a name (code that was made at run time, imported profiles).
///
/// What comes out depends on the set of rows, not on the order in which they came. Where two inputs
/// name the same bytes differently both rows are kept; which one counts follows from their texts.
/// Memory: some 100 bytes per distinct row, and the distinct texts.
class NameUnion {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The number of a text.
  std::uint32_t text(std::string_view text) { return texts_.intern(text); }

  /// A call that was inlined in `parent` (kNone: in the function); its number.
  std::uint32_t call(std::uint32_t parent, const Names& names, const InlinedCall& call);

  /// A function of an image. `start` is the offset in it.
  void add_function(std::uint32_t image, std::uint64_t start, const Names& names,
                    const Function& function);
  /// A line of an image; `inlined` is the number of the innermost call.
  void add_line(std::uint32_t image, std::uint64_t start, std::uint64_t size, std::uint32_t inlined,
                std::string_view file, std::uint32_t line);

  /// Functions of that name are also called `alias`.
  void add_alias(std::string_view name, std::string_view alias) {
    aliases_.number({text(name), text(alias)});
  }

  /// A frame that is nothing but a name: a function, and where it is known the code in it.
  struct NamedCode {
    const Function* function = nullptr;  ///< null: `name` is all
    std::string_view name;
    bool has_code = false;
    std::string_view file;
    std::uint32_t line = 0;
    std::uint32_t inlined = kNone;  ///< number of the innermost call
  };
  void add_name(const Names& names, const NamedCode& code);

  /// After all rows: gives the names their order. Errors: kLimit: too many.
  Status finish();

  /// After finish(): the address that stands for a name; nothing when it was not added.
  [[nodiscard]] std::optional<std::uint64_t> address_of(const Names& names,
                                                        const NamedCode& code) const;

  /// After finish() and images.place(): the names of a file with images.modules().
  [[nodiscard]] Names names(const ImageTable& images) const;

 private:
  struct CallRow {
    std::uint32_t parent, name, linkage, file, line;
    friend bool operator==(const CallRow&, const CallRow&) = default;
  };
  struct FunctionRow {
    std::uint32_t image, name, linkage, file, line;
    FunctionSource source;
    std::uint64_t start, size;
    friend bool operator==(const FunctionRow&, const FunctionRow&) = default;
  };
  struct LineRow {
    std::uint32_t image, inlined, file, line;
    std::uint64_t start, size;
    friend bool operator==(const LineRow&, const LineRow&) = default;
  };
  struct NameRow {
    std::uint32_t name, linkage, file, line;
    FunctionSource source;
    bool has_code;
    std::uint32_t code_file, code_line, inlined;
    friend bool operator==(const NameRow&, const NameRow&) = default;
  };
  struct AliasRow {
    std::uint32_t name, alias;
    friend bool operator==(const AliasRow&, const AliasRow&) = default;
  };
  struct HashRow {
    std::uint64_t operator()(const CallRow& row) const;
    std::uint64_t operator()(const FunctionRow& row) const;
    std::uint64_t operator()(const LineRow& row) const;
    std::uint64_t operator()(const NameRow& row) const;
    std::uint64_t operator()(const AliasRow& row) const;
  };
  class Build;

  // The row of a name, with texts that are numbered by `number`; nothing when one of them is not.
  template <typename Number>
  static std::optional<NameRow> row_of(const Names& names, const NamedCode& code, Number number);
  // Compares texts, and calls from the outermost on.
  [[nodiscard]] std::strong_ordering compare_texts(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::strong_ordering compare_calls(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool before(const NameRow& a, const NameRow& b) const;
  [[nodiscard]] bool before(const FunctionRow& a, const FunctionRow& b) const;
  [[nodiscard]] bool before(const LineRow& a, const LineRow& b) const;

  core::StringTable texts_;
  core::NumberTable<CallRow, HashRow> calls_;
  core::NumberTable<FunctionRow, HashRow> functions_;
  core::NumberTable<LineRow, HashRow> lines_;
  core::NumberTable<NameRow, HashRow> names_;
  core::NumberTable<AliasRow, HashRow> aliases_;
  std::vector<std::uint32_t> order_;  // names in the order of their addresses
  std::vector<std::uint32_t> rank_;   // the inverse
};

}  // namespace stackpack::app
