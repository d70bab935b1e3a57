#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stackpack::symbols {

/// Whether a byte belongs to a word; bytes of other scripts do.
bool is_word(char c);

/// Where the symbol of a C++ operator ends whose word `operator` ends at `at`: behind `()`, `<<=`,
/// ` new[]`. `at` itself for a conversion, and where there is no symbol.
std::size_t operator_end(std::string_view name, std::size_t at);

/// Whether the word `operator` stands at `at`.
bool is_operator_word(std::string_view name, std::size_t at);

/// Which brackets of a name belong together. Signs that are no brackets do not count: `->`, `=>`,
/// those of operators, those in quotes.
class NameBrackets {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  explicit NameBrackets(std::string_view name);

  /// The closing bracket of the one at `at`; kNone where none opens, or nothing closes it.
  [[nodiscard]] std::size_t close_of(std::size_t at) const { return closes_[at]; }

  /// Whether a bracket opens that nothing closes, or closes what nothing opened.
  [[nodiscard]] bool any_open() const { return lone_ || !open_.empty(); }

 private:
  void open(std::size_t at) { open_.push_back(at); }
  void close(std::string_view name, std::size_t at);

  std::vector<std::size_t> closes_;
  std::vector<std::size_t> open_;
  bool lone_ = false;
};

/// How much of a name is kept; each has all that the one before it has.
enum class NameDetail : std::uint8_t {
  kShort,
  kParameters,    ///< and parameters
  kOwnArguments,  ///< and arguments of the function itself, where it is a template
  kArguments,     ///< and arguments of templates and generic types
  kWhole,
};

/// Bytes of a name that are kept.
struct NamePart {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  /// Without all that stands before it, what follows is a shorter name of the same function.
  bool starts = false;

  friend bool operator==(const NamePart&, const NamePart&) = default;
};

}  // namespace stackpack::symbols
