#include "support/sink_laws.h"

#include <algorithm>
#include <exception>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"

namespace stackpack::test {
namespace {

bool is_sound(const CollectingSink::Row& row, std::size_t events) {
  const StackOrigin origin = row.sample.origin;
  return row.sample.event < events && (origin != StackOrigin::kNone || row.stack.empty()) &&
         (origin != StackOrigin::kIpOnly || row.stack.find(' ') == std::string::npos);
}

template <typename Row>
bool are_in_order(const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) {
    return row.start_ns == kUnknownTime || row.end_ns == kUnknownTime || row.start_ns <= row.end_ns;
  });
}

}  // namespace

void check_sink_laws(const CollectingSink& sink) {
  if (std::uncaught_exceptions() != 0) {
    return;
  }
  const auto rows = sink.settled();
  const std::size_t events = sink.events.size();
  CHECK(std::all_of(rows.begin(), rows.end(),
                    [events](const auto& row) { return is_sound(row, events); }));
  const capture::SystemTables tables = sink.system_facts.finish();
  CHECK(are_in_order(tables.processes));
  CHECK(are_in_order(tables.threads));
  CHECK(are_in_order(tables.modules));
}

}  // namespace stackpack::test
