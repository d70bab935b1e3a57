// The functions of DuckDB that a query takes, of a library that is found while the program runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/shared_library.h"
#include "stackpack/arrow_c_data.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Types of DuckDB's C interface (duckdb.h), which are stable.
/// Source: https://github.com/duckdb/duckdb/blob/main/src/include/duckdb.h
struct DuckResult {
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t changed = 0;
  void* data = nullptr;
  char* error = nullptr;
  void* internal = nullptr;
};
struct DuckText {
  std::uint32_t length = 0;
  char start[4] = {};          ///< with `rest`, all of a text of at most 12 bytes
  const char* rest = nullptr;  ///< of a longer one the text
};

struct DuckdbFunctions {
  const char* (*library_version)() = nullptr;
  int (*create_config)(void** config) = nullptr;
  int (*set_config)(void* config, const char* name, const char* value) = nullptr;
  void (*destroy_config)(void** config) = nullptr;
  int (*open_ext)(const char* path, void** database, void* config, char** error) = nullptr;
  void (*close)(void** database) = nullptr;
  int (*connect)(void* database, void** connection) = nullptr;
  void (*disconnect)(void** connection) = nullptr;
  int (*arrow_scan)(void* connection, const char* table, ArrowArrayStream* stream) = nullptr;
  int (*query)(void* connection, const char* sql, DuckResult* result) = nullptr;
  void (*destroy_result)(DuckResult* result) = nullptr;
  const char* (*result_error)(DuckResult* result) = nullptr;
  std::uint64_t (*column_count)(DuckResult* result) = nullptr;
  const char* (*column_name)(DuckResult* result, std::uint64_t column) = nullptr;
  int (*column_type)(DuckResult* result, std::uint64_t column) = nullptr;
  void* (*fetch_chunk)(DuckResult result) = nullptr;
  void (*destroy_data_chunk)(void** chunk) = nullptr;
  std::uint64_t (*data_chunk_get_size)(void* chunk) = nullptr;
  void* (*data_chunk_get_vector)(void* chunk, std::uint64_t column) = nullptr;
  void* (*vector_get_data)(void* vector) = nullptr;
  std::uint64_t* (*vector_get_validity)(void* vector) = nullptr;
};

class DuckdbLibrary {
 public:
  /// The library at `path`; empty: the first of the usual names that the system's loader finds.
  /// Errors: kNotFound: there is none, or it lacks a function.
  static Result<DuckdbLibrary> load(const std::string& path);

  [[nodiscard]] const DuckdbFunctions& functions() const { return functions_; }

 private:
  explicit DuckdbLibrary(io::SharedLibrary library) : library_(std::move(library)) {}
  bool find_all();
  bool find_connection();
  bool find_results();
  template <typename Function>
  bool find(const char* name, Function& function) {
    function = library_.function<Function>(name);
    return function != nullptr;
  }

  io::SharedLibrary library_;
  DuckdbFunctions functions_;
};

}  // namespace stackpack::app
