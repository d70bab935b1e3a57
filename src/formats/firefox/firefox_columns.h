#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/read_control.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::firefox {

/// A column of a table. What is not there, null or no number is -1.
using Column = std::vector<double>;

/// The tables that callstacks and names are in.
struct NameTables {
  std::map<std::string, Column, std::less<>> columns;  ///< by `TABLE/COLUMN`
  std::vector<std::string> strings;
  std::vector<std::string> library_paths;

  /// The value of a row; -1 where there is none.
  [[nodiscard]] double value(std::string_view column, double row) const;
  [[nodiscard]] bool has(std::string_view column) const { return columns.contains(column); }
  [[nodiscard]] bool has_stacks() const { return has("stackTable/frame"); }
};

struct ThreadColumns {
  std::string name;
  std::string process_name;
  std::string pid;
  std::string tid;
  std::string weight_type;
  std::string event;  ///< of the project's own exports
  Column stack;
  Column time;         ///< ms
  Column time_deltas;  ///< ms, in place of `time`
  Column weight;
  NameTables tables;  ///< of its own, before version 60
  std::uint64_t markers = 0;
};

/// What a file has of what is understood here.
struct FileColumns {
  double start_ms = 0;
  std::vector<ThreadColumns> threads;
  NameTables shared;  ///< before version 60 libraries at most
  std::uint64_t counters = 0;
  bool is_unprocessed = false;  ///< as the browser gives it: rows with a schema
};

/// Errors: kCorrupt, kLimit for more than `max_bytes` of values and texts, kCancelled; those of the
/// source.
Result<FileColumns> read_columns(io::ByteSource& source, const capture::ReadControl& control,
                                 std::uint64_t max_bytes);

}  // namespace stackpack::firefox
