#include "cli/messages.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "app/console.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

bool wants_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  return app::terminal_moves_cursor(app::Stream::kStandardError) &&
         (no_color == nullptr || *no_color == '\0');
}

Messages::Messages() : colours_(wants_colours()) {}

void Messages::line(std::string_view file, std::string_view kind, std::string_view colour,
                    std::string_view text) const {
  std::string message = "stackpack: ";
  if (!file.empty()) {
    append_escaped(message, file == "-" ? "(standard input)" : file);
    message += ": ";
  }
  if (!kind.empty()) {
    message += kind;
    message += ": ";
  }
  append_message(message, text);
  if (colours_ && !colour.empty()) {
    message = fmt::format("{}{}{}", colour, message, colours::kPlain);
  }
  message += '\n';
  app::write_standard_error(message);
}

void Messages::error(std::string_view file, const Error& error) const {
  line(file, "", colours::kRed, message(error));
}

void Messages::error(std::string_view file, std::string_view text) const {
  line(file, "", colours::kRed, text);
}

void Messages::warning(std::string_view file, std::string_view text) const {
  line(file, "warning", colours::kYellow, text);
}

void Messages::note(std::string_view file, std::string_view text) const {
  line(file, "note", "", text);
}

void Messages::tried(std::string_view file, std::span<const FormatTried> formats) const {
  for (const FormatTried& format : formats) {
    line(file, "not read as " + format.format, "", format.why);
  }
}

void Messages::plain(std::string_view text) const {
  line("", "", "", text);
}

}  // namespace stackpack::cli
