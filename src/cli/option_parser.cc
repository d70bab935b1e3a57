#include "cli/option_parser.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bytes/quoted.h"
#include "cli/definitions/option_kinds.h"
#include "cli/suggestion.h"
#include <CLI/CLI.hpp>

namespace stackpack::cli {

namespace {

// A row, and what CLI11 knows of it.
struct Bound {
  const OptionRow* row;
  CLI::Option* option;
};

std::string called(const OptionRow& row) {
  return row.positional() ? row.value : row.name_list().back();
}

CLI::Option* add_row(CLI::App& app, const OptionRow& row) {
  if (row.form == OptionRow::Form::kHelp) {
    return app.set_help_flag(row.names, row.text);
  }
  if (row.form == OptionRow::Form::kFlag) {
    CLI::Option* const flag = app.add_flag_callback(
        row.names, [&row] { row.take({}); }, row.text);
    flag->disable_flag_override();  // CLI11 takes --json=7 for --json
    return flag;
  }
  if (row.form == OptionRow::Form::kValue) {
    const auto take = [&row](const std::string& word) { row.take({word}); };
    return app.add_option_function<std::string>(row.names, take, row.text);
  }
  return app.add_option_function<std::vector<std::string>>(row.names, row.take, row.text)
      ->allow_extra_args(row.form == OptionRow::Form::kAllThatFollow);
}

std::vector<Bound> add_rows(CLI::App& app, const CommandRow& command) {
  std::vector<Bound> rows;
  for (const OptionRow& row : command.options()) {
    rows.push_back({&row, add_row(app, row)->required(row.needed)});
    for (const Bound& other : rows) {
      if (other.row == row.rival) {
        rows.back().option->excludes(other.option);
      }
    }
  }
  return rows;
}

// The row that CLI11 complains about: its texts name it.
const Bound* row_in(const std::vector<Bound>& rows, std::string_view complaint) {
  const Bound* found = nullptr;
  std::size_t longest = 0;
  for (const Bound& bound : rows) {
    const std::string name = bound.option->get_name();
    if (name.size() > longest && complaint.find(name) != std::string_view::npos) {
      found = &bound;
      longest = name.size();
    }
  }
  return found;
}

// CLI11's complaints about values, in our words.
std::string problem_with_value(const std::vector<Bound>& rows, const CLI::ParseError& failure) {
  std::string complaint = failure.what();
  const Bound* bound = row_in(rows, complaint);
  if (bound == nullptr) {
    bound = row_in(rows, "--" + complaint);  // that about a flag's value begins so
  }
  if (bound == nullptr) {
    return complaint;
  }
  const std::string name = called(*bound->row);
  if (bound->row->form == OptionRow::Form::kFlag) {
    return name + " takes no value";
  }
  return bound->option->count() > 1
             ? fmt::format("{} was given {} times; give it once", name, bound->option->count())
             : fmt::format("{} needs a value: {} {}", name, name, bound->row->value);
}

// What the command cannot do without.
std::string missing_part(const std::vector<Bound>& rows, const CLI::ParseError& failure) {
  for (const auto& [row, option] : rows) {
    if (row->needed && option->count() == 0) {
      return row->positional() ? fmt::format("no {} given", row->value)
                               : fmt::format("{} {} is missing", called(*row), row->value);
    }
  }
  return failure.what();
}

std::string superfluous(const CommandRow& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word.starts_with('-')) {
      std::vector<std::string> names;
      for (const OptionRow& row : command.options()) {
        for (std::string& name : row.name_list()) {
          if (name.starts_with('-')) {
            names.push_back(std::move(name));
          }
        }
      }
      return fmt::format("unknown option {}{}", bytes::quoted(word),
                         did_you_mean(word.substr(0, word.find('=')), names));
    }
  }
  return words.empty() ? "too many arguments"
                       : fmt::format("one argument too many: {}", bytes::quoted(words.front()));
}

}  // namespace

// A filter of a command holds for the commands that go deeper, too.
std::vector<std::string> filters_of(const std::vector<Bound>& rows) {
  std::vector<std::string> words;
  for (const auto& [row, option] : rows) {
    const bool carried = row->heading == kFilters || row->heading == kCaptures;
    if (!carried || row->positional() || option->count() == 0) {
      continue;
    }
    const std::string name = row->name_list().back();
    if (row->form == OptionRow::Form::kFlag) {
      words.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) {
      words.push_back(fmt::format("{}={}", name, value));
    }
  }
  return words;
}

OptionsParsed parse_options(const CommandRow& command, std::vector<std::string> words) {
  CLI::App app("", command.name());
  app.allow_windows_style_options(false);  // /path is a path there, too
  const std::vector<Bound> rows = add_rows(app, command);
  const auto wrong = [](std::string text) {
    return OptionsParsed{OptionsParsed::Kind::kUsageError, std::move(text), {}};
  };
  const bool whole = std::find(words.begin(), words.end(), "--help") != words.end();
  std::reverse(words.begin(), words.end());  // the order CLI11 wants
  command.begin_values();
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return {whole ? OptionsParsed::Kind::kHelp : OptionsParsed::Kind::kScreen, "", {}};
  } catch (const CLI::ExtrasError&) {
    return wrong(superfluous(command, app.remaining(true)));
  } catch (const CLI::RequiredError& failure) {
    return wrong(
        fmt::format("{}; see stackpack {} --help", missing_part(rows, failure), command.name()));
  } catch (const CLI::ArgumentMismatch& failure) {
    return wrong(problem_with_value(rows, failure));
  } catch (const CLI::ConversionError& failure) {
    return wrong(problem_with_value(rows, failure));
  } catch (const CLI::ParseError& failure) {
    return wrong(failure.what());
  } catch (const RefusedValue& refused) {
    return wrong(refused.what());
  }
  command.end_values();
  OptionsParsed parsed{OptionsParsed::Kind::kDone, "", filters_of(rows)};
  for (const auto& [row, option] : rows) {
    const std::vector<std::string> given = option->results();
    parsed.has_standard_input |=
        row->positional() && std::find(given.begin(), given.end(), "-") != given.end();
  }
  return parsed;
}

}  // namespace stackpack::cli
