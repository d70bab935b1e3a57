#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/sql/duckdb_library.h"
#include "app/sql/sql_query.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/shown_capture.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using Columns = std::span<const app::SqlColumn>;

// DuckDB's numbers as JSON has them: those that are none there (nan, inf) are null.
bool is_json_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

void write_value(JsonText& json, const app::SqlColumn& column,
                 const std::optional<std::string_view>& value) {
  if (!value || (column.is_number && !is_json_number(*value))) {
    json.value(nullptr);
  } else if (column.is_boolean) {
    json.value(*value == "true");
  } else if (column.is_number) {
    json.number(*value);
  } else {
    json.value(*value);
  }
}

// Rows of an answer, as tab-separated text or as JSON.
class AnswerText {
 public:
  AnswerText(const QueryArguments& arguments, app::TextOutput& out)
      : arguments_(arguments), out_(out), as_json_(arguments.json), json_(out.text()) {}

  Status begin(Columns columns) {
    columns_.assign(columns.begin(), columns.end());
    if (as_json_) {
      json_.begin_object();
      json_.key("columns");
      json_.begin_array();
      for (const app::SqlColumn& column : columns_) {
        json_.value(column.name);
      }
      json_.end_array();
      json_.key("rows");
      json_.begin_array();
      return {};
    }
    std::string_view before = "#";
    for (const app::SqlColumn& column : columns_) {
      out_.text() += before;
      append_escaped(out_.text(), column.name);
      before = "\t";
    }
    out_.text() += '\n';
    return {};
  }

  Status row(app::SqlQuery::Row values) {
    if (as_json_) {
      json_.begin_array();
      for (std::size_t i = 0; i < values.size(); ++i) {
        write_value(json_, columns_[i], values[i]);
      }
      json_.end_array();
      return out_.checkpoint();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      out_.text() += i == 0 ? "" : "\t";
      append_escaped(out_.text(), values[i] ? *values[i] : std::string_view("-"));
    }
    out_.text() += '\n';
    return out_.checkpoint();
  }

  void end(bool more) {
    if (as_json_) {
      json_.end_array();
      json_.field("rows_left_out", more);
      NextCommands next;
      next.add_longer({"query", arguments_.file, arguments_.sql}, arguments_.rows,
                      more ? arguments_.rows : 0);
      next.add({"query", arguments_.file, "DESCRIBE samples"});
      next.add({"query", arguments_.file, "DESCRIBE callstacks"});
      next.write(json_);
      json_.end_object();
      out_.text() += '\n';
    } else if (more) {
      out_.text() += "... more rows; --limit N\n";
    }
  }

 private:
  const QueryArguments& arguments_;
  app::TextOutput& out_;
  std::vector<app::SqlColumn> columns_;
  bool as_json_;
  JsonText json_;
};

Result<app::DuckdbLibrary> load_duckdb(const std::string& given, const Messages& messages) {
  const char* const named = std::getenv("STACKPACK_DUCKDB");
  const std::string path = given.empty() && named != nullptr ? named : given;
  Result<app::DuckdbLibrary> library = app::DuckdbLibrary::load(path);
  if (!library) {
    messages.error(
        "query", fmt::format("{}: {}; get libduckdb from duckdb.org (or the npm package "
                             "@duckdb/node-bindings-linux-x64) and give it by --duckdb LIBRARY or "
                             "STACKPACK_DUCKDB",
                             path.empty() ? "libduckdb.so" : path, message(library.error())));
  }
  return library;
}

}  // namespace

int run_query(const QueryArguments& arguments, const Messages& messages) {
  const Result<app::DuckdbLibrary> library = load_duckdb(arguments.library, messages);
  if (!library) {
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  const auto opened = open_shown(arguments.file, arguments.capture, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  // The tables go before the file is closed.
  const std::shared_ptr<const Reader> reader(std::shared_ptr<const Reader>(), &opened->reader());
  app::SqlQuery query(*library, {ArrowTables::of(reader), arguments.file, arguments.capture.convert,
                                 arguments.providers});
  AnswerText answer(arguments, **out);
  const Result<bool> more = query.run(
      arguments.sql, arguments.rows, [&](Columns columns) { return answer.begin(columns); },
      [&](app::SqlQuery::Row row) { return answer.row(row); });
  if (!more && !query.problem().empty()) {
    messages.error("query", query.problem());
    return kExitUsage;
  }
  if (more) {
    answer.end(*more);
  }
  return finish_output(**out, more ? Status() : Status(more.error()), arguments.file, messages);
}

}  // namespace stackpack::cli
