#include "app/analysis/exception_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/analysis/event_value_table.h"
#include "core/sort_rows.h"

namespace stackpack::app {

Result<ExceptionReport> exception_report(const Reader& reader, std::size_t limit) {
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  ExceptionReport report;
  std::map<std::tuple<std::string, std::string, std::string>, ThrownException> rows;
  Status named;
  const Status read = values->visit([&](const EventValueTable::Row& row) {
    if (row.kind != capture::ValueKind::kException) {
      return;
    }
    const Result<std::string> function = values->function(*row.value);
    if (!function) {
      named = function.error();
      return;
    }
    ++report.count;
    const std::string& type = values->text(row.fields[0]);
    const std::string& message = values->text(row.fields[1]);
    ThrownException& thrown = rows[{type, message, *function}];
    if (thrown.count++ == 0) {
      thrown = {type, message, *function, 1, row.value->time_ns};
    }
  });
  if (!read || !named) {
    return read ? named.error() : read.error();
  }
  for (auto& [key, thrown] : rows) {
    report.rows.push_back(std::move(thrown));
  }
  report.all_rows = report.rows.size();
  core::sort_rows(report.rows, [](const ThrownException& a, const ThrownException& b) {
    return a.count > b.count;
  });
  if (limit != 0 && report.rows.size() > limit) {
    report.rows.resize(limit);
  }
  return report;
}

}  // namespace stackpack::app
