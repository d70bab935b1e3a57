// Questions in SQL to the tables of a file, answered by DuckDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/sql/duckdb_library.h"
#include "stackpack/arrow.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct SqlColumn {
  std::string name;
  bool is_number = false;   ///< whole numbers, decimals, floating point
  bool is_boolean = false;  ///< written as true and false
};

/// What a question may read.
struct SqlTables {
  std::shared_ptr<const ArrowTables> of_file;
  /// For provider_events: the capture, and whose events are in that table.
  std::string path;
  ConvertOptions reading;
  std::string providers = "*";
};

/// A database in memory whose tables are those of a file (stackpack/arrow.h). A question has
/// neither files nor a network: what it may read is in the file.
class SqlQuery {
 public:
  /// The tables must outlive this. Errors: kResource, with problem().
  SqlQuery(const DuckdbLibrary& library, SqlTables tables);
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;
  ~SqlQuery();

  /// A row: texts as DuckDB writes them; nothing for null. Valid during the call.
  using Row = std::span<const std::optional<std::string_view>>;

  /// Answers one SELECT. `columns` first, then each row up to `most` of them (0: all).
  /// Memory: that of the tables that the question names, and of the answer, in DuckDB.
  /// Result: whether there are more rows. Errors: kUsage: DuckDB's words are in problem(); those of
  ///         the tables and of the visitors.
  Result<bool> run(const std::string& sql, std::size_t most,
                   const std::function<Status(std::span<const SqlColumn>)>& columns,
                   const std::function<Status(Row)>& row);

  /// What DuckDB said of the last failure, in one line.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  Status open();
  Status load_tables(const std::string& sql);
  Status keep(std::string_view name, ArrowArrayStream& stream);
  Status execute(const std::string& sql);
  Status fail(const char* text);
  Status describe(const std::string& sql, std::vector<SqlColumn>& columns);
  Status fetch(DuckResult& result, std::size_t columns, const std::function<Status(Row)>& row);

  const DuckdbFunctions& duck_;
  const SqlTables tables_;
  void* database_ = nullptr;
  void* connection_ = nullptr;
  std::string problem_;
};

}  // namespace stackpack::app
