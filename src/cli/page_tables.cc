#include "cli/page_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/annotation.h"
#include "app/analysis/exception_report.h"
#include "app/analysis/gc_report.h"
#include "app/analysis/io_report.h"
#include "app/analysis/runtime_reports.h"
#include "app/listing/function_titles.h"
#include "app/listing/source_files.h"
#include "cli/human_text.h"
#include "cli/text_escape.h"
#include "core/sort_rows.h"
#include "core/weight_scale.h"
#include "stackpack/event_values.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

namespace {

// Source lines with their samples, as tables of a page.

using app::AnnotatedPlace;
using Unit = PageTable::Unit;

constexpr std::size_t kMostTables = 40;
constexpr std::size_t kMostLines = 400;
constexpr std::size_t kMostColumns = 100;  // of a name
constexpr std::uint32_t kAround = 2;  // lines without samples before and after one that has some

Unit unit_of(std::string_view unit) {
  return unit == "ns" ? Unit::kNanoseconds : unit == "bytes" ? Unit::kBytes : Unit::kCount;
}

// Of whole numbers a number, which sorts; of others the text that shows them.
PageTable::Cell cell_of(std::uint64_t value, unsigned decimals) {
  return decimals == 0 ? PageTable::Cell(std::optional<std::uint64_t>(value))
                       : PageTable::Cell(core::decimal_text(value, decimals));
}

std::vector<PageTable::Cell> row_of(std::optional<std::uint64_t> self,
                                    std::optional<std::uint64_t> total, std::uint32_t line,
                                    const std::string& text) {
  return {self, total, std::optional<std::uint64_t>(line), text};
}

// Rows of the lines of one file; no row where the file has not so many lines.
PageTable table_of(std::string_view unit, std::span<const AnnotatedPlace> places,
                   const std::vector<std::string>& text) {
  const unsigned decimals = core::parse_unit(unit).decimals;
  const Unit shown = decimals == 0 ? unit_of(unit) : Unit::kText;
  PageTable table{
      places.front().file,
      "",
      {{"Self", shown}, {"Total", shown}, {"Line", Unit::kCount}, {"Source", Unit::kCode}},
      {}};
  std::uint32_t next = 1;  // the first line that is not in the table
  const auto add_plain = [&](std::uint32_t end) {
    for (; next < end; ++next) {
      table.rows.push_back(row_of(std::nullopt, std::nullopt, next, text[next - 1]));
    }
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const AnnotatedPlace& place = places[i];
    if (place.line == 0 || place.line > text.size()) {
      continue;
    }
    if (table.rows.size() >= kMostLines) {
      table.note = fmt::format("{} with samples more", counted(places.size() - i, "line"));
      break;
    }
    next = std::max(next, place.line - std::min(place.line - 1, kAround));
    add_plain(place.line);
    table.rows.push_back({cell_of(place.self, decimals), cell_of(place.total, decimals),
                          std::optional<std::uint64_t>(place.line), text[place.line - 1]});
    next = place.line + 1;
    const std::uint64_t last = std::uint64_t{place.line} + kAround;
    const std::uint64_t limit = i + 1 < places.size() ? places[i + 1].line : last + 1;
    add_plain(
        static_cast<std::uint32_t>(std::min<std::uint64_t>({last + 1, text.size() + 1, limit})));
  }
  return table;
}

// A table for each file of each function that has lines in files below `folders`, the functions
// with most self first: 40 tables at most, of 400 lines each. A line without samples is there when
// a near one has some. Figures are those of `annotate` with the same filters.
// Errors: as app::annotate.
Result<std::vector<PageTable>> source_tables(const Reader& reader, const ExportOptions& filters,
                                             const std::vector<std::string>& folders,
                                             const std::string& root) {
  std::vector<PageTable> tables;
  if (folders.empty()) {
    return tables;
  }
  app::HotSpotQuery query;
  query.filters = filters;
  query.filters.frames = FrameStyle::kFunction;
  Result<app::Annotation> annotation = app::annotate(reader, query, "*");
  if (!annotation) {
    return annotation.error();
  }
  core::sort_rows(annotation->functions,
                  [](const app::AnnotatedFunction& a, const app::AnnotatedFunction& b) {
                    return a.spot.self > b.spot.self;
                  });
  app::SourceFiles sources(folders, root);
  std::vector<app::FunctionTitle> functions;  // of each table
  for (const app::AnnotatedFunction& function : annotation->functions) {
    const std::span<const AnnotatedPlace> places = function.places;
    for (std::size_t begin = 0; begin < places.size() && tables.size() < kMostTables;) {
      const auto end = std::find_if(
          places.begin() + static_cast<std::ptrdiff_t>(begin), places.end(),
          [&](const AnnotatedPlace& place) { return place.file != places[begin].file; });
      const auto count = static_cast<std::size_t>(end - places.begin()) - begin;
      const std::vector<std::string>* const text =
          places[begin].file.empty() ? nullptr : sources.lines_of(places[begin].file);
      if (text != nullptr) {
        PageTable table = table_of(annotation->about.unit, places.subspan(begin, count), *text);
        if (!table.rows.empty()) {
          tables.push_back(std::move(table));
          functions.push_back({function.spot.name, "", ""});
        }
      }
      begin += count;
    }
  }
  const std::vector<std::string> names =
      app::function_titles(functions, app::FunctionNames::kShort, kMostColumns);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].title = names[i] + " – " + tables[i].title;
  }
  return tables;
}

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
    const auto exceptions = app::exception_report(reader, app::ExceptionGroup::kSite, kMostRows);
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
                                           const std::vector<std::string>& source_folders,
                                           const std::string& root) {
  Result<std::vector<PageTable>> sources = source_tables(reader, filters, source_folders, root);
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
