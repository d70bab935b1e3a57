#include "app/listing/thread_names.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stackpack::app {

namespace {

// A life that was under way when the capture began starts before every other.
std::uint64_t start_of(std::uint64_t start_ns) {
  return start_ns == kUnknownTime ? 0 : start_ns;
}

template <typename Row, typename Key>
std::vector<std::uint32_t> order_by(std::span<const Row> rows, const Key& key) {
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    return key(rows[left]) < key(rows[right]);
  });
  return order;
}

// The last row whose key is not above `wanted`, or null.
template <typename Row, typename Key, typename Wanted>
const Row* last_not_above(std::span<const Row> rows, const std::vector<std::uint32_t>& order,
                          const Key& key, const Wanted& wanted) {
  const auto after = std::upper_bound(
      order.begin(), order.end(), wanted,
      [&](const Wanted& value, std::uint32_t index) { return value < key(rows[index]); });
  return after == order.begin() ? nullptr : &rows[*(after - 1)];
}

auto process_key(const Process& row) {
  return std::tuple(row.pid, start_of(row.start_ns));
}
auto thread_key(const Thread& row) {
  return std::tuple(row.pid, row.tid, start_of(row.start_ns));
}

}  // namespace

ThreadNames::ThreadNames(std::span<const Process> processes, std::span<const Thread> threads)
    : processes_(processes),
      threads_(threads),
      process_order_(order_by(processes, process_key)),
      thread_order_(order_by(threads, thread_key)) {}

std::string_view ThreadNames::process_name(std::uint32_t pid, std::uint64_t time_ns) const {
  const Process* found =
      last_not_above(processes_, process_order_, process_key, std::tuple(pid, time_ns));
  return found != nullptr && found->pid == pid ? std::string_view(found->name) : std::string_view();
}

std::string_view ThreadNames::name(std::uint32_t pid, std::uint32_t tid,
                                   std::uint64_t time_ns) const {
  const Thread* found =
      last_not_above(threads_, thread_order_, thread_key, std::tuple(pid, tid, time_ns));
  if (found != nullptr && found->pid == pid && found->tid == tid && !found->name.empty()) {
    return found->name;
  }
  return process_name(pid, time_ns);
}

}  // namespace stackpack::app
