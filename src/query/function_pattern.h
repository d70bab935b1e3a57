// Functions as people type them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// A name without return type, parameters and template arguments: `ns::Engine::apply` of
/// `void ns::Engine<int>::apply<long>(int) const`. Cost: proportional to the name. Any bytes are
/// good.
std::string plain_function_name(std::string_view name);

/// What a function is called in every file that has it: a hash of its name as reports count it and
/// of the file name of its image, which may be empty. 16 hexadecimal digits.
std::string function_id(std::string_view name, std::string_view module);

/// What one types for functions: a name; the end of one (`Engine::apply`, `apply`); with `*` and
/// `?`; `/a regular expression/` as RE2 takes it; each also as `MODULE!FUNCTION`; `id:` and a
/// function_id. Case counts only where the text has capitals.
class FunctionPattern {
 public:
  /// Steps that an expression may be compiled to: each may cost some nanoseconds for each byte of
  /// each name.
  static constexpr int kMostSteps = 2000;

  /// Errors: kUsage: no regular expression, one with what RE2 does not have, or one of more than
  /// kMostSteps.
  static Result<FunctionPattern> parse(std::string_view text);

  /// How well a function fits. Of many functions those that fit best are meant: where one is
  /// called just so, no other that only ends so.
  enum class Fit : std::uint8_t {
    kExact,  ///< the text is its name
    kWhole,  ///< all of it but for case, parameters, template arguments
    kEnd,    ///< the last parts of its name
    kNone,
  };
  [[nodiscard]] Fit fit(std::string_view name, std::string_view module) const;
  /// The same of a function with other names. They never fit better than kWhole: what is called
  /// just so comes first. Each list costs its length once, however many functions have it.
  [[nodiscard]] Fit fit(std::string_view name, std::string_view module,
                        std::span<const AliasList> aliases) const;

  FunctionPattern(FunctionPattern&&) noexcept;
  FunctionPattern& operator=(FunctionPattern&&) noexcept;
  FunctionPattern(const FunctionPattern&) = delete;
  FunctionPattern& operator=(const FunctionPattern&) = delete;
  ~FunctionPattern();

 private:
  class Expression;
  class ListFits;
  FunctionPattern();
  [[nodiscard]] Fit fit_function(std::string_view name) const;
  [[nodiscard]] bool fits_module(std::string_view module) const;

  std::string text_;                   // as it was given
  std::string id_;                     // after `id:`; empty: it is no id
  std::optional<std::string> module_;  // folded like the function
  std::string function_;               // folded when case does not count
  bool folds_case_ = false;
  bool has_wildcards_ = false;
  std::unique_ptr<const Expression> expression_;
  std::unique_ptr<ListFits> list_fits_;
};

/// Which of many are meant: those that fit as well as any does, if any does.
std::vector<bool> best_fits(std::span<const FunctionPattern::Fit> fits);

}  // namespace stackpack::query
