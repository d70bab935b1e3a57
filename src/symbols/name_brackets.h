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

}  // namespace stackpack::symbols
