#include "cli/source_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/analysis/annotation.h"
#include "app/listing/function_titles.h"
#include "app/listing/source_files.h"
#include "cli/human_text.h"
#include "core/sort_rows.h"

namespace stackpack::cli {

namespace {

using app::AnnotatedPlace;
using Unit = PageTable::Unit;

constexpr std::size_t kMostTables = 40;
constexpr std::size_t kMostLines = 400;
constexpr std::size_t kMostColumns = 100;  // of a name
constexpr std::uint32_t kAround = 2;  // lines without samples before and after one that has some

Unit unit_of(std::string_view unit) {
  return unit == "ns" ? Unit::kNanoseconds : unit == "bytes" ? Unit::kBytes : Unit::kCount;
}

std::vector<PageTable::Cell> row_of(std::optional<std::uint64_t> self,
                                    std::optional<std::uint64_t> total, std::uint32_t line,
                                    const std::string& text) {
  return {self, total, std::optional<std::uint64_t>(line), text};
}

// Rows of the lines of one file; no row where the file has not so many lines.
PageTable table_of(std::string_view unit, std::span<const AnnotatedPlace> places,
                   const std::vector<std::string>& text) {
  PageTable table{places.front().file,
                  "",
                  {{"Self", unit_of(unit)},
                   {"Total", unit_of(unit)},
                   {"Line", Unit::kCount},
                   {"Source", Unit::kCode}},
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
    table.rows.push_back(row_of(place.self, place.total, place.line, text[place.line - 1]));
    next = place.line + 1;
    const std::uint64_t last = std::uint64_t{place.line} + kAround;
    const std::uint64_t limit = i + 1 < places.size() ? places[i + 1].line : last + 1;
    add_plain(
        static_cast<std::uint32_t>(std::min<std::uint64_t>({last + 1, text.size() + 1, limit})));
  }
  return table;
}

}  // namespace

Result<std::vector<PageTable>> source_tables(const Reader& reader, const ExportOptions& filters,
                                             const std::vector<std::string>& folders) {
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
  app::SourceFiles sources(folders);
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

}  // namespace stackpack::cli
