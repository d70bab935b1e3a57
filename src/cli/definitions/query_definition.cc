#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

void CommandDefinitions::define_query() {
  CommandRow& sub = command(
      "query", "ask the tables of a file in SQL, through DuckDB", Command::kQuery,
      {{"query FILE SQL [--json] [--limit N] [--events-of PROVIDER] [--duckdb LIBRARY]"},
       {{"samples of each event",
         "stackpack query out.spk 'SELECT event, count(*) FROM samples GROUP BY event'"},
        {"threads by the time of their samples, as JSON",
         "stackpack query perf.data 'SELECT tid, sum(weight) AS w FROM samples GROUP BY tid ORDER "
         "BY w DESC' --limit 10 --json"},
        {"what a program's own events say",
         "stackpack query app.nettrace \"SELECT name, field, text FROM provider_events\" "
         "--events-of MyCompany-MyApp"},
        {"the columns of a table", "stackpack query out.spk 'DESCRIBE frames'"}},
       "The tables are those of docs/arrow.md: samples, callstacks, frames, functions, modules, "
       "processes, threads, events, sources, losses, metadata, counts, top, branches, ranges, "
       "intervals, event_values, sample_fields, branch_stacks, and of a capture (.etl, .nettrace) "
       "provider_events. Those that the question names are loaded into memory.\n"
       "One SELECT is answered. It can read neither files nor a network.\n"
       "DuckDB's library is not part of stackpack: libduckdb.so is looked for where the system "
       "looks for libraries, or is given by --duckdb or STACKPACK_DUCKDB."});
  QueryArguments& arguments = invocation.query;
  sub.add_option("file", arguments.file, "a .spk file, or a capture")
      ->type_name("FILE")
      ->required();
  sub.add_option("sql", arguments.sql, "the question")->type_name("SQL")->required();
  sub.add_option("--limit", arguments.rows, "most rows; 0: all")
      ->type_name("N")
      ->default_str("1000")
      ->group(kForm);
  sub.add_option("--events-of", arguments.providers,
                 "of provider_events: providers by name or GUID, '*' stands for any characters")
      ->type_name("PROVIDER")
      ->default_str("all")
      ->group(kInputs);
  sub.add_option("--duckdb", arguments.library, "DuckDB's library")
      ->type_name("LIBRARY")
      ->group(kInputs);
  sub.add_flag("--json", arguments.json, "JSON: an object with columns and rows")->group(kReports);
  add_capture_reading(sub, arguments.capture);
}

}  // namespace stackpack::cli
