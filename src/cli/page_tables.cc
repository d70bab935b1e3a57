#include "cli/page_tables.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/analysis/exception_report.h"
#include "app/analysis/gc_report.h"
#include "app/analysis/io_report.h"
#include "app/analysis/jit_report.h"
#include "cli/human_text.h"
#include "cli/shell_word.h"
#include "cli/source_tables.h"
#include "stackpack/event_values.h"

namespace stackpack::cli {

namespace {

using Unit = PageTable::Unit;

constexpr std::size_t kMostRows = 200;

PageTable::Cell number(std::uint64_t value) {
  return value == kNoValue ? std::optional<std::uint64_t>() : std::optional(value);
}

// Which figures of a sum a table has, and what they are called.
struct SumColumns {
  std::string_view name;
  std::string_view count;
  std::string_view bytes;    // empty: none
  std::string_view ns;       // empty: none
  std::string_view longest;  // empty: none
};

class TableMaker {
 public:
  // `tables`: what comes first.
  TableMaker(const std::string& file, std::vector<PageTable> tables)
      : file_(file), tables_(std::move(tables)) {}

  Status add_all(const Reader& reader) {
    const auto gc = app::gc_report(reader, kMostRows);
    if (!gc) {
      return gc.error();
    }
    add_gc(*gc);
    const auto exceptions = app::exception_report(reader, kMostRows);
    if (!exceptions) {
      return exceptions.error();
    }
    add_exceptions(*exceptions);
    const auto io = app::io_report(reader, app::IoOrder::kBytes, kMostRows);
    if (!io) {
      return io.error();
    }
    add_io(*io);
    const auto jit = app::jit_report(reader, kMostRows);
    if (!jit) {
      return jit.error();
    }
    add_jit(*jit);
    return {};
  }

  std::vector<PageTable> take() && { return std::move(tables_); }

 private:
  // `all`: rows that there are, of which the table has the first.
  void add(PageTable table, std::size_t all, std::string_view command) {
    if (table.rows.empty()) {
      return;
    }
    if (all > table.rows.size()) {
      table.note = fmt::format("{} more: stackpack {} {} --limit 0",
                               grouped(all - table.rows.size()), command, shell_word(file_));
    }
    tables_.push_back(std::move(table));
  }

  void add_sums(std::string title, const SumColumns& columns, std::span<const app::ValueSum> sums,
                std::size_t all, std::string_view command) {
    PageTable table;
    table.title = std::move(title);
    const auto column = [&table](std::string_view name, Unit unit) {
      if (!name.empty()) {
        table.columns.push_back({std::string(name), unit});
      }
    };
    column(columns.bytes, Unit::kBytes);
    column(columns.ns, Unit::kNanoseconds);
    column(columns.longest, Unit::kNanoseconds);
    column(columns.count, Unit::kCount);
    column(columns.name, Unit::kText);
    for (const app::ValueSum& sum : sums) {
      std::vector<PageTable::Cell> row;
      const auto cell = [&row](std::string_view name, std::uint64_t value) {
        if (!name.empty()) {
          row.push_back(number(value));
        }
      };
      cell(columns.bytes, sum.bytes);
      cell(columns.ns, sum.ns);
      cell(columns.longest, sum.most_ns);
      cell(columns.count, sum.count);
      row.emplace_back(sum.name);
      table.rows.push_back(std::move(row));
    }
    add(std::move(table), all, command);
  }

  void add_gc(const app::GcReport& report) {
    PageTable processes{"Garbage collection",
                        "",
                        {{"Paused", Unit::kNanoseconds},
                         {"Longest", Unit::kNanoseconds},
                         {"Pauses", Unit::kCount},
                         {"Collections", Unit::kCount},
                         {"Allocated", Unit::kBytes},
                         {"Largest heap", Unit::kBytes},
                         {"Process", Unit::kText}},
                        {}};
    PageTable collections{"Collections",
                          "",
                          {{"Paused", Unit::kNanoseconds},
                           {"Number", Unit::kCount},
                           {"Generation", Unit::kCount},
                           {"Reason", Unit::kText},
                           {"Process", Unit::kText}},
                          {}};
    std::size_t all_collections = 0;
    for (const app::GcProcess& process : report.processes) {
      processes.rows.push_back({number(process.pause_ns), number(process.longest_ns),
                                number(process.pauses), number(process.collections.size()),
                                number(process.allocated_bytes), number(process.largest_heap),
                                process.name});
      for (const app::Collection& collection : process.collections) {
        if (++all_collections <= kMostRows) {
          collections.rows.push_back({number(collection.pause_ns), number(collection.number),
                                      number(collection.generation),
                                      std::string(app::gc_reason_name(collection.reason)),
                                      process.name});
        }
      }
    }
    add(std::move(processes), report.processes.size(), "gc");
    add(std::move(collections), all_collections, "gc --json");
    add_sums("Allocations by type", {"Type", "Samples", "Allocated", "", ""}, report.types,
             report.all_types, "gc");
    add_sums("Allocations by function", {"Function", "Samples", "Allocated", "", ""},
             report.functions, report.all_functions, "gc");
  }

  void add_exceptions(const app::ExceptionReport& report) {
    PageTable table{"Exceptions",
                    "",
                    {{"Count", Unit::kCount},
                     {"Type", Unit::kText},
                     {"Message", Unit::kText},
                     {"Thrown by", Unit::kText}},
                    {}};
    for (const app::ThrownException& row : report.rows) {
      table.rows.push_back({number(row.count), row.type, row.message, row.function});
    }
    add(std::move(table), report.all_rows, "exceptions");
  }

  void add_io(const app::IoReport& report) {
    const auto add_operations = [this](std::string title, std::string_view name,
                                       std::span<const app::ValueSum> sums, std::size_t all) {
      add_sums(std::move(title), {name, "Count", "Bytes", "Latency", "Longest"}, sums, all, "io");
    };
    add_operations("Input and output", "Operation", report.operations, report.operations.size());
    add_operations("Input and output by file", "File", report.files, report.all_files);
    add_operations("Input and output by function", "Asked for by", report.functions,
                   report.all_functions);
    add_operations("Input and output by process", "Process", report.processes,
                   report.processes.size());
    const auto add_held = [this](std::string title, std::string_view count,
                                 const app::HeldReport& held) {
      add_sums(std::move(title), {"Function", count, "Held", "", ""}, held.functions,
               held.all_functions, "io");
    };
    add_held("Memory held at the end", "Ranges", report.memory);
    add_held("Heap held at the end", "Blocks", report.heap);
  }

  void add_jit(const app::JitReport& report) {
    const auto add_compiled = [this](std::string title, std::string_view name,
                                     std::span<const app::ValueSum> sums, std::size_t all) {
      add_sums(std::move(title), {name, "Methods", "Code", "Time", "Longest"}, sums, all, "jit");
    };
    add_compiled("Compiled by tier", "Tier", report.tiers, report.tiers.size());
    add_compiled("Compiled methods", "Method", report.slowest, report.all_methods);
    add_compiled("Compiled for the first call of", "Caller", report.callers, report.all_callers);
  }

  const std::string& file_;
  std::vector<PageTable> tables_;
};

}  // namespace

Result<std::vector<PageTable>> page_tables(const Reader& reader, const std::string& file,
                                           const ExportOptions& filters,
                                           const std::vector<std::string>& source_folders) {
  Result<std::vector<PageTable>> sources = source_tables(reader, filters, source_folders);
  if (!sources) {
    return sources.error();
  }
  TableMaker maker(file, std::move(*sources));
  if (const Status added = reader.has_event_values() ? maker.add_all(reader) : Status(); !added) {
    return added.error();
  }
  return std::move(maker).take();
}

}  // namespace stackpack::cli
