#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace stackpack::etl {

/// Totals over a whole trace: what a reader of ETW numbers wants to compare with other tools.
struct TraceSummary {
  /// Events by kind: "Group/type/vN" for kernel events, "guid/idN/opN/vN" for provider events,
  /// "guid/opN/vN" for classes, and "ext_item_type_N" for extended data items.
  std::map<std::string, std::uint64_t> event_counts;
  std::uint64_t events = 0;
  std::uint64_t wpp_messages = 0;

  std::uint64_t buffers = 0;
  std::uint64_t compressed_buffers = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t declared_buffers = 0;
  std::string compression;

  std::uint64_t fragments_inline = 0;
  std::uint64_t key_references = 0;
  std::uint64_t key_definitions = 0;
  std::uint64_t undefined_references = 0;
  std::uint64_t joined_stacks = 0;  ///< of StackWalk events: the sum of the next three
  std::uint64_t kernel_only = 0;
  std::uint64_t user_only = 0;
  std::uint64_t kernel_and_user = 0;
  std::uint64_t borrowed_user_halves = 0;
  std::uint64_t stale_kernel_halves = 0;
  std::uint64_t late_user_halves = 0;
  std::uint64_t joined_frames = 0;

  std::uint64_t extended_items = 0;
  std::uint64_t extended_items_with_match_id = 0;
  std::uint64_t extended_stacks = 0;
  std::uint64_t extended_frames = 0;

  std::uint64_t clr_stacks = 0;
  std::uint64_t clr_frames = 0;
  std::uint64_t clr_stacks_without_event = 0;

  std::uint64_t timer_samples = 0;
  std::uint64_t counter_samples = 0;
  std::uint64_t samples_with_stack = 0;
  std::uint64_t samples_without_stack = 0;
  std::uint64_t samples_not_idle = 0;
  std::uint64_t context_switches = 0;
  std::uint64_t ready_thread = 0;

  std::uint64_t processes = 0;  ///< distinct ids of start and rundown events
  std::uint64_t threads = 0;
  std::uint64_t image_events = 0;
  std::uint64_t images = 0;  ///< distinct (process, base)
  std::uint64_t pdb_records = 0;

  /// Adds the totals of another trace of the session.
  void add(const TraceSummary& other);
};

}  // namespace stackpack::etl
