#include "spk/write/edge_ranks.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stackpack::spk {

namespace {

constexpr unsigned kChildShift = 32;

std::uint64_t edge_of(std::uint32_t child, std::uint32_t rank) {
  return std::uint64_t{child} << kChildShift | rank;
}

// Bytes of pages for each of the two arrays, or 0 when they fit in memory.
std::uint64_t page_bytes_of(std::uint32_t frame_count, const EdgeRanks::Options& options) {
  // Vectors have up to twice their size while they grow, and once more while they move.
  constexpr std::uint64_t kGrowth = 3;
  const std::uint64_t bytes =
      frame_count * sizeof(std::uint32_t) + options.most_edges * sizeof(std::uint64_t);
  const bool fits = options.memory_bytes == 0 || bytes * kGrowth <= options.memory_bytes;
  return fits ? 0 : std::max<std::uint64_t>(1, options.memory_bytes / 2);
}

}  // namespace

EdgeRanks::EdgeRanks(std::uint32_t frame_count, const Options& options)
    : frame_count_(frame_count),
      decoder_(frame_count),
      starts_(options.scratch_directory, page_bytes_of(frame_count, options)),
      edges_(options.scratch_directory, page_bytes_of(frame_count, options)) {}

Status EdgeRanks::add_block(bytes::ByteCursor in) {
  const auto edges = decoder_.decode(in);
  if (!edges) {
    return edges.error();
  }
  for (const ClassedEdge& edge : *edges) {
    while (rows_ < edge.row) {
      if (const Status closed = close_row(); !closed) {
        return closed;
      }
    }
    if (const Status added = edges_.append(edge_count_, edge_of(edge.child, edge.edge_class));
        !added) {
      return added;
    }
    ++of_class_[edge.edge_class];
    ++edge_count_;
  }
  return {};
}

// Ranks go by class, highest first, then by position.
Status EdgeRanks::rank_row(std::uint32_t size) {
  if (size == 1) {  // most rows
    return rank_only_edge();
  }
  std::uint32_t rank = 0;
  for (std::size_t edge_class = of_class_.size(); edge_class-- > 0;) {
    rank += std::exchange(of_class_[edge_class], rank);
  }
  for (std::uint32_t at = row_begin_; at < row_begin_ + size; ++at) {
    const Result<std::uint64_t> edge = edges_.get(at);
    if (!edge) {
      return edge.error();
    }
    const auto child = static_cast<std::uint32_t>(*edge >> kChildShift);
    const auto edge_class = static_cast<std::uint32_t>(*edge);
    if (const Status set = edges_.set(at, edge_of(child, of_class_[edge_class]++)); !set) {
      return set;
    }
  }
  of_class_ = {};
  return {};
}

Status EdgeRanks::rank_only_edge() {
  const Result<std::uint64_t> edge = edges_.get(row_begin_);
  if (!edge) {
    return edge.error();
  }
  of_class_[static_cast<std::uint32_t>(*edge)] = 0;
  return edges_.set(row_begin_, edge_of(static_cast<std::uint32_t>(*edge >> kChildShift), 0));
}

Status EdgeRanks::close_row() {
  const std::uint32_t size = edge_count_ - row_begin_;
  if (size > 0) {
    if (const Status ranked = rank_row(size); !ranked) {
      return ranked;
    }
  }
  const Status appended = starts_.append(rows_, row_begin_);
  row_begin_ = edge_count_;
  ++rows_;
  return appended;
}

Status EdgeRanks::finish() {
  if (!decoder_.complete()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: edges: rows are missing"};
  }
  while (rows_ < row_count()) {
    if (const Status closed = close_row(); !closed) {
      return closed;
    }
  }
  return starts_.append(rows_, edge_count_);
}

Result<EdgeRow> EdgeRanks::row(std::uint32_t number) {
  const Result<std::uint32_t> begin = starts_.get(number);
  const Result<std::uint32_t> end = starts_.get(std::uint64_t{number} + 1);
  if (!begin || !end) {
    return begin ? end.error() : begin.error();
  }
  return EdgeRow{*begin, *end - *begin, 0};
}

// Siblings ascend and often follow each other; so the search goes on from `from` in growing steps.
Result<EdgePlace> EdgeRanks::place_of(const EdgeRow& row, std::uint32_t child, std::uint32_t from) {
  std::uint32_t low = from;
  std::uint32_t high = row.size;
  if (const auto edges = edges_.in_memory(); !edges.empty()) {
    const std::uint64_t* const children = edges.data() + row.first;
    const std::uint64_t sought = edge_of(child, 0);
    high = low;
    for (std::uint32_t step = 1; high < row.size && children[high] < sought; step *= 2) {
      low = high + 1;
      high += std::min(step, row.size - high);
    }
    const std::uint64_t* const found = std::lower_bound(children + low, children + high, sought);
    return EdgePlace{static_cast<std::uint32_t>(found - children),
                     static_cast<std::uint32_t>(*found)};
  }
  while (true) {
    assert(low < high);
    const std::uint32_t middle = low + (high - low) / 2;
    const Result<std::uint64_t> edge = edges_.get(row.first + middle);
    if (!edge) {
      return edge.error();
    }
    const auto found = static_cast<std::uint32_t>(*edge >> kChildShift);
    if (found == child) {
      return EdgePlace{middle, static_cast<std::uint32_t>(*edge)};
    }
    (found < child ? low : high) = found < child ? middle + 1 : middle;
  }
}

}  // namespace stackpack::spk
