// What a builder is made of, and how it works: builder_steps.cc interns, builder_room.cc keeps to
// the memory limit, builder_impl.cc is the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dag/builder.h"
#include "dag/distinct_estimate.h"
#include "dag/frame_word.h"
#include "dag/incoming_group.h"
#include "dag/node_map.h"
#include "dag/node_store.h"
#include "dag/path_search.h"
#include "dag/prefix_cache.h"
#include "dag/recent_stacks.h"

namespace stackpack::dag {

struct Builder::Impl {
  explicit Impl(const Options& options);

  Result<std::size_t> take_in(std::span<const Arrival> arrivals, std::span<NodeIndex> nodes);
  Status make_path(const capture::StackView& stack, FrameWord* words);
  Status make_escape(const Frame& frame, FrameWord& word);

  Result<std::uint32_t> settle(IncomingStack& stack);
  std::uint32_t follow(IncomingStack& stack, std::uint32_t node);
  Status add_nodes(IncomingStack& stack, std::uint32_t node);

  Status make_room(std::uint64_t more);
  Status make_room_for_escape();
  bool fits(std::uint64_t nodes, std::uint64_t map_capacity, std::uint64_t escape_bytes) const;
  std::uint64_t memory_bytes() const;

  std::uint64_t limit;
  std::uint64_t granted = 0;  // node count up to which there is room
  NodeStore store;
  NodeMap map;
  RecentStacks recent;
  std::uint64_t cache_bytes;  // as it was asked for
  PrefixCache cache;
  EscapeTable escapes;
  IncomingGroup group;
  PathSearch search;
  std::uint32_t searched = 0;  // nodes that there were at the last search
  DistinctEstimate distinct;
  BuilderCounters counters;
};

}  // namespace stackpack::dag
