#include "cli/name_column.h"

#include <cstdlib>

#include "app/console.h"

namespace stackpack::cli {

std::optional<std::size_t> output_columns() {
  return app::is_terminal(app::Stream::kStandardOutput)
             ? std::optional(app::terminal_columns(app::Stream::kStandardOutput))
             : std::nullopt;
}

bool output_has_colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  return app::terminal_moves_cursor(app::Stream::kStandardOutput) &&
         (no_color == nullptr || *no_color == '\0');
}

app::FunctionNames names_or_default(std::optional<app::FunctionNames> asked, bool json) {
  return asked.value_or(json ? app::FunctionNames::kFull : app::FunctionNames::kShort);
}

void append_name_and_bar(std::string& out, std::string_view name, std::size_t width,
                         std::string_view bar) {
  out += name;
  if (!bar.empty()) {
    const std::size_t columns = app::columns_of(name);
    out.append(columns < width ? width - columns : 0, ' ').append("  ").append(bar);
  }
  out += '\n';
}

}  // namespace stackpack::cli
