#include "cli/shell_word.h"

#include "cli/text_escape.h"

namespace stackpack::cli {

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/,:=@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      quoted += "'\"'\"'";  // without a backslash, which a terminal is shown as two
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

std::string shown_shell_word(std::string_view word) {
  std::string shown;
  append_escaped(shown, shell_word(word));
  return shown;
}

}  // namespace stackpack::cli
