#include "app/mcp/message_lines.h"

namespace stackpack::app {

MessageLines::Kind MessageLines::next(std::string& line) {
  using Traits = std::streambuf::traits_type;
  line.clear();
  bool too_long = false;
  bool blank = true;
  while (true) {
    const Traits::int_type taken = stream_.sbumpc();
    const bool end = Traits::eq_int_type(taken, Traits::eof());
    const char letter = end ? '\n' : Traits::to_char_type(taken);
    if (letter != '\n') {
      blank = blank && (letter == ' ' || letter == '\t' || letter == '\r');
      too_long = too_long || line.size() == kMostBytes;
      if (!too_long) {
        line.push_back(letter);
      }
      continue;
    }
    if (too_long) {
      line.clear();
      return Kind::kTooLong;
    }
    if (!blank) {
      return Kind::kLine;
    }
    line.clear();
    if (end) {
      return Kind::kEnd;
    }
  }
}

}  // namespace stackpack::app
