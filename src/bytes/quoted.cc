#include "bytes/quoted.h"

#include "bytes/utf8.h"

namespace stackpack::bytes {

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 300;
  if (text.size() <= kLongest) {
    return "'" + std::string(text) + "'";
  }
  constexpr std::size_t kShown = 100;
  std::size_t shown = 0;
  while (shown < kShown) {
    const std::size_t character = utf8_length(text.substr(shown));
    shown += character == 0 ? 1 : character;
  }
  return "'" + std::string(text.substr(0, shown)) + "...' (" + std::to_string(text.size()) +
         " bytes)";
}

}  // namespace stackpack::bytes
