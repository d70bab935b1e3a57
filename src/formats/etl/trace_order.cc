#include "formats/etl/trace_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "formats/etl/event/etl_clock.h"

namespace stackpack::etl {

namespace {

constexpr std::size_t kComparedBytes = std::size_t{1} << 16;

// Below, at or above 0, as the bytes of `a` are less than, the same as or more than those of `b`.
Result<int> compare_contents(io::ByteSource& a, io::ByteSource& b) {
  std::vector<std::byte> block_a(kComparedBytes);
  std::vector<std::byte> block_b(kComparedBytes);
  for (std::uint64_t offset = 0;; offset += kComparedBytes) {
    const Result<std::size_t> size_a = a.read_at(offset, block_a);
    const Result<std::size_t> size_b = b.read_at(offset, block_b);
    if (!size_a || !size_b) {
      return size_a ? size_b.error() : size_a.error();
    }
    block_a.resize(*size_a);
    block_b.resize(*size_b);
    if (block_a != block_b) {
      return block_a < block_b ? -1 : 1;
    }
    if (block_a.size() < kComparedBytes) {
      return 0;
    }
  }
}

auto key_of(const TraceInput& trace) {
  const EtlClock clock(trace.header);
  return std::tuple(clock.unix_ns(trace.header.clock_origin), trace.source->size().value_or(0));
}

}  // namespace

Result<std::size_t> order_traces(std::vector<TraceInput>& traces) {
  Status failed;
  const auto compare = [&failed](const TraceInput& a, const TraceInput& b) {
    if (key_of(a) != key_of(b)) {
      return key_of(a) < key_of(b) ? -1 : 1;
    }
    const Result<int> order = compare_contents(*a.source, *b.source);
    if (!order) {
      failed = order.error();
      return 1;
    }
    return *order;
  };
  // Insertion: they are few, and an order that changes while it is asked for does no harm.
  std::vector<TraceInput> ordered;
  for (TraceInput& trace : traces) {
    std::size_t at = 0;
    int order = 1;
    while (at < ordered.size() && (order = compare(trace, ordered[at])) > 0) {
      ++at;
    }
    if (at == ordered.size() || order != 0) {
      ordered.insert(ordered.begin() + static_cast<std::ptrdiff_t>(at), std::move(trace));
    }
  }
  if (!failed) {
    return failed.error();
  }
  const std::size_t repeated = traces.size() - ordered.size();
  traces = std::move(ordered);
  return repeated;
}

}  // namespace stackpack::etl
