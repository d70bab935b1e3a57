#include "app/sql/duckdb_library.h"

#include <utility>
#include <vector>

namespace stackpack::app {

Result<DuckdbLibrary> DuckdbLibrary::load(const std::string& path) {
  const std::vector<std::string> names =
      path.empty() ? std::vector<std::string>{"libduckdb.so", "libduckdb.dylib", "duckdb.dll"}
                   : std::vector<std::string>{path};
  Error error{ErrorCode::kNotFound, kNoOffset, "DuckDB's library is not here"};
  for (const std::string& name : names) {
    Result<io::SharedLibrary> library = io::SharedLibrary::open(name);
    if (!library) {
      error = library.error();
      continue;
    }
    DuckdbLibrary loaded(std::move(*library));
    if (loaded.find_all()) {
      return loaded;
    }
    error = Error{ErrorCode::kNotFound, kNoOffset, "the library is not DuckDB's of version 1"};
  }
  return error;
}

bool DuckdbLibrary::find_all() {
  return find_connection() && find_results();
}

bool DuckdbLibrary::find_connection() {
  DuckdbFunctions& all = functions_;
  return find("duckdb_library_version", all.library_version) &&
         find("duckdb_create_config", all.create_config) &&
         find("duckdb_set_config", all.set_config) &&
         find("duckdb_destroy_config", all.destroy_config) &&
         find("duckdb_open_ext", all.open_ext) && find("duckdb_close", all.close) &&
         find("duckdb_connect", all.connect) && find("duckdb_disconnect", all.disconnect) &&
         find("duckdb_arrow_scan", all.arrow_scan) && find("duckdb_query", all.query);
}

bool DuckdbLibrary::find_results() {
  DuckdbFunctions& all = functions_;
  return find("duckdb_destroy_result", all.destroy_result) &&
         find("duckdb_result_error", all.result_error) &&
         find("duckdb_column_count", all.column_count) &&
         find("duckdb_column_name", all.column_name) &&
         find("duckdb_column_type", all.column_type) &&
         find("duckdb_fetch_chunk", all.fetch_chunk) &&
         find("duckdb_destroy_data_chunk", all.destroy_data_chunk) &&
         find("duckdb_data_chunk_get_size", all.data_chunk_get_size) &&
         find("duckdb_data_chunk_get_vector", all.data_chunk_get_vector) &&
         find("duckdb_vector_get_data", all.vector_get_data) &&
         find("duckdb_vector_get_validity", all.vector_get_validity);
}

}  // namespace stackpack::app
