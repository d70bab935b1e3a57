#include "export/formats/csv_schema.h"

#include <array>
#include <cstdint>
#include <span>

namespace stackpack::exporting {

namespace {

enum class ColumnType : std::uint8_t {
  kId,      // 32 bits
  kCount,   // 64 bits
  kWeight,  // 64 bits, perhaps with digits behind the point
  kText,
  kAddress,  // text: 0x and sixteen hex digits
};

struct Column {
  std::string_view name;
  ColumnType type;
};

struct Table {
  std::string_view name;
  std::span<const Column> columns;
};

using enum ColumnType;

constexpr std::array kStacks = {Column{"id", kId},
                                Column{"parent", kId},
                                Column{"frame", kText},
                                Column{"address", kAddress},
                                Column{"module_id", kId},
                                Column{"module", kText},
                                Column{"file_offset", kAddress},
                                Column{"name", kText},
                                Column{"location", kId}};
constexpr std::array kFrames = {Column{"location", kId}, Column{"depth", kId},
                                Column{"function", kId}, Column{"line", kId}};
constexpr std::array kFunctions = {
    Column{"id", kId},        Column{"name", kText},    Column{"linkage", kText},
    Column{"file", kText},    Column{"line", kId},      Column{"source", kText},
    Column{"pid", kId},       Column{"module_id", kId}, Column{"start", kAddress},
    Column{"last", kAddress}, Column{"born_ns", kCount}};
constexpr std::array kSamples = {
    Column{"time_ns", kCount}, Column{"pid", kId},     Column{"tid", kId},
    Column{"cpu", kId},        Column{"event", kId},   Column{"weight", kWeight},
    Column{"origin", kText},   Column{"flags", kId},   Column{"stack", kId},
    Column{"node", kId},       Column{"process", kId}, Column{"thread", kId},
    Column{"comm", kText}};
constexpr std::array kCounts = {
    Column{"pid", kId},        Column{"event", kId},    Column{"samples", kCount},
    Column{"weight", kWeight}, Column{"origin", kText}, Column{"stack", kId},
    Column{"node", kId},       Column{"process", kId},  Column{"comm", kText}};
constexpr std::array kEvents = {Column{"id", kId}, Column{"name", kText},
                                Column{"has_weight", kId}};
constexpr std::array kModules = {
    Column{"id", kId},          Column{"pid", kId},         Column{"base", kAddress},
    Column{"last", kAddress},   Column{"size", kAddress},   Column{"file_offset", kAddress},
    Column{"start_ns", kCount}, Column{"end_ns", kCount},   Column{"path", kText},
    Column{"build_id", kText},  Column{"debug_name", kText}};
constexpr std::array kProcesses = {Column{"id", kId},
                                   Column{"pid", kId},
                                   Column{"parent_pid", kId},
                                   Column{"start_ns", kCount},
                                   Column{"end_ns", kCount},
                                   Column{"name", kText},
                                   Column{"command_line", kText}};
constexpr std::array kThreads = {Column{"id", kId},        Column{"pid", kId},
                                 Column{"tid", kId},       Column{"start_ns", kCount},
                                 Column{"end_ns", kCount}, Column{"name", kText}};
constexpr std::array kMetadata = {Column{"key", kText}, Column{"value", kText}};

std::array<Table, 9> tables(bool has_samples) {
  return {{{"stacks", kStacks},
           {"frames", kFrames},
           {"functions", kFunctions},
           {"samples",
            has_samples ? std::span<const Column>(kSamples) : std::span<const Column>(kCounts)},
           {"events", kEvents},
           {"modules", kModules},
           {"processes", kProcesses},
           {"threads", kThreads},
           {"metadata", kMetadata}}};
}

std::string_view duckdb_type(ColumnType type) {
  switch (type) {
    case kId:
      return "UINTEGER";
    case kCount:
      return "UBIGINT";
    case kWeight:
      return "DECIMAL(29, 9)";
    case kText:
    case kAddress:
      break;
  }
  return "VARCHAR";
}

std::string_view sqlite_type(ColumnType type) {
  return type == kId || type == kCount ? "INTEGER" : type == kWeight ? "NUMERIC" : "TEXT";
}

std::string create_table(const Table& table, std::string_view (*type_of)(ColumnType)) {
  std::string text = "CREATE TABLE ";
  text.append(table.name).append(" (");
  std::string_view separator;
  for (const Column& column : table.columns) {
    text.append(separator).append(column.name).append(" ").append(type_of(column.type));
    separator = ", ";
  }
  return text + ");\n";
}

}  // namespace

std::string csv_header(std::string_view table, bool has_samples) {
  std::string header;
  for (const Table& known : tables(has_samples)) {
    for (const Column& column : known.columns) {
      if (known.name == table) {
        header.append(header.empty() ? "" : ",").append(column.name);
      }
    }
  }
  return header;
}

std::string duckdb_script(bool has_samples) {
  std::string text = "-- In this directory: duckdb capture.duckdb < load.duckdb.sql\n";
  for (const Table& table : tables(has_samples)) {
    text += create_table(table, duckdb_type);
  }
  for (const Table& table : tables(has_samples)) {
    text.append("COPY ").append(table.name).append(" FROM '").append(table.name);
    text.append(
        ".csv' (FORMAT csv, HEADER true, AUTO_DETECT false, DELIMITER ',', QUOTE '\"', "
        "ESCAPE '\"');\n");
  }
  text.pop_back();
  return text;
}

std::string sqlite_script(bool has_samples) {
  std::string text = "-- In this directory: sqlite3 capture.sqlite < load.sqlite.sql\n";
  for (const Table& table : tables(has_samples)) {
    text += create_table(table, sqlite_type);
  }
  text += ".mode csv\n";
  for (const Table& table : tables(has_samples)) {
    text.append(".import --skip 1 ").append(table.name).append(".csv ");
    text.append(table.name).append("\n");
  }
  // An empty cell is empty text to .import.
  for (const Table& table : tables(has_samples)) {
    std::string_view separator = " SET ";
    text.append("UPDATE ").append(table.name);
    for (const Column& column : table.columns) {
      text.append(separator).append(column.name).append(" = nullif(").append(column.name);
      text.append(", '')");
      separator = ", ";
    }
    text += ";\n";
  }
  text +=
      "CREATE INDEX samples_by_node ON samples (node);\nCREATE UNIQUE INDEX stacks_by_id ON stacks "
      "(id);";
  return text;
}

}  // namespace stackpack::exporting
