#include "app/analysis/exception_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/analysis/event_value_table.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

using capture::ValueKind;

enum ExceptionFlags : std::uint64_t { kRethrown = 4 };

// Exceptions of one type, site and message.
struct Finest {
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t rethrown = 0;
  std::map<std::string, std::uint64_t> catchers;
};
using Key = std::tuple<std::string, std::string, std::string>;  // type, site, message
using FinestRows = std::map<Key, Finest>;

// Takes events by time: what a thread catches is what it threw last and has not caught yet.
class Throws {
 public:
  explicit Throws(EventValueTable& values) : values_(values) {}

  Status take(const EventValueTable::Row& row) {
    if (row.kind == ValueKind::kExceptionCatch) {
      caught(row);
    } else if (row.kind == ValueKind::kException) {
      return thrown(row);
    }
    return {};
  }

  [[nodiscard]] const FinestRows& rows() const { return rows_; }
  [[nodiscard]] bool knows_catches() const { return knows_catches_; }

 private:
  static constexpr std::size_t kMostInFlight = 64;  // of a thread

  Status thrown(const EventValueTable::Row& row) {
    enum Fields : std::size_t { kType, kMessage, kHresult, kFlags };
    const Result<std::string> site = values_.function(*row.value, RuntimeFrames::kDispatch);
    if (!site) {
      return site.error();
    }
    Finest& finest =
        rows_[{values_.text(row.fields[kType]), *site, values_.text(row.fields[kMessage])}];
    if (finest.count++ == 0) {
      finest.first_ns = row.value->time_ns;
    }
    const std::uint64_t flags = row.fields[kFlags];
    finest.rethrown += flags != kNoValue && (flags & kRethrown) != 0 ? 1U : 0U;
    std::vector<Finest*>& flying = in_flight_[{row.value->pid, row.value->tid}];
    if (flying.size() == kMostInFlight) {
      flying.erase(flying.begin());
    }
    flying.push_back(&finest);
    return {};
  }

  void caught(const EventValueTable::Row& row) {
    knows_catches_ = true;
    std::vector<Finest*>& flying = in_flight_[{row.value->pid, row.value->tid}];
    if (!flying.empty()) {
      ++flying.back()->catchers[values_.text(row.fields[0])];
      flying.pop_back();
    }
  }

  EventValueTable& values_;
  FinestRows rows_;
  bool knows_catches_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Finest*>> in_flight_;
};

// A row that is being added up.
struct Sum {
  std::uint64_t count = 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t rethrown = 0;
  std::map<std::string, std::uint64_t> functions;
  std::map<std::string, std::uint64_t> messages;
  std::map<std::string, std::uint64_t> catchers;
};

// The names that count most first.
std::vector<std::pair<std::string, std::uint64_t>> by_count(
    const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
  core::sort_rows(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

ThrownException row_of(const std::string& type, const Sum& sum) {
  ThrownException row;
  row.type = type;
  row.message = by_count(sum.messages).front().first;
  row.function = by_count(sum.functions).front().first;
  row.count = sum.count;
  row.first_ns = sum.first_ns;
  row.rethrown = sum.rethrown;
  row.messages = sum.messages.size();
  row.functions = sum.functions.size();
  row.catchers = by_count(sum.catchers);
  for (const auto& [method, count] : row.catchers) {
    row.caught += count;
  }
  return row;
}

std::map<Key, Sum> sums_of(const FinestRows& finest, ExceptionGroup by) {
  std::map<Key, Sum> sums;
  for (const auto& [key, row] : finest) {
    const auto& [type, site, message] = key;
    Sum& sum = sums[{type, by == ExceptionGroup::kType ? std::string() : site,
                     by == ExceptionGroup::kMessage ? message : std::string()}];
    sum.count += row.count;
    sum.first_ns = std::min(sum.first_ns, row.first_ns);
    sum.rethrown += row.rethrown;
    sum.functions[site] += row.count;
    sum.messages[message] += row.count;
    for (const auto& [method, count] : row.catchers) {
      sum.catchers[method] += count;
    }
  }
  return sums;
}

// By type, then by site, then by message, each with the most exceptions first.
std::vector<ThrownException> rows_of(const FinestRows& finest, ExceptionGroup by) {
  std::map<std::string, std::uint64_t> of_type;
  std::map<std::pair<std::string, std::string>, std::uint64_t> of_site;
  for (const auto& [key, row] : finest) {
    of_type[std::get<0>(key)] += row.count;
    of_site[{std::get<0>(key), std::get<1>(key)}] += row.count;
  }
  std::vector<ThrownException> rows;
  for (const auto& [key, sum] : sums_of(finest, by)) {
    rows.push_back(row_of(std::get<0>(key), sum));
  }
  const auto place = [&](const ThrownException& row) {
    const std::uint64_t site =
        by == ExceptionGroup::kType ? 0 : of_site.at({row.type, row.function});
    return std::tuple(~of_type.at(row.type), row.type, ~site, ~row.count);
  };
  core::sort_rows(rows, [&](const ThrownException& a, const ThrownException& b) {
    return place(a) < place(b);
  });
  return rows;
}

}  // namespace

Result<ExceptionReport> exception_report(const Reader& reader, ExceptionGroup by,
                                         std::size_t limit) {
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  Throws throws(*values);
  Status named;
  const Status read = values->visit([&](const EventValueTable::Row& row) {
    if (named) {
      named = throws.take(row);
    }
  });
  if (!read || !named) {
    return read ? named.error() : read.error();
  }
  ExceptionReport report;
  report.rows = rows_of(throws.rows(), by);
  report.knows_catches = throws.knows_catches();
  for (const ThrownException& row : report.rows) {
    report.count += row.count;
    report.caught += row.caught;
    report.rethrown += row.rethrown;
  }
  report.all_rows = report.rows.size();
  if (limit != 0 && report.rows.size() > limit) {
    report.rows.resize(limit);
  }
  return report;
}

}  // namespace stackpack::app
