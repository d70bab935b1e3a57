// Events of which nothing is kept but, where one came, a callstack with its time, thread, process
// and processor. Law: each such group of events is a notice with a count and a first offset, and
// their payloads are passed over for a reason of their own, where they are not compressed.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "capture/loss_counters.h"
#include "formats/etl/event/event_header.h"

namespace stackpack::etl {

/// Where an event stands.
struct EventPlace {
  std::uint16_t processor = 0;
  std::uint64_t file_offset = 0;  ///< of the event, or of the compressed buffer that holds it
  bool stored_plain = false;      ///< the former
};

/// Names of the counters: the groups of kernel events in the order of their numbers (see
/// group_name()), then what stands in no such group.
inline constexpr std::string_view kEventsNotKept[] = {
    "events_not_kept.event_trace",  "events_not_kept.io",          "events_not_kept.memory",
    "events_not_kept.process",      "events_not_kept.file",        "events_not_kept.thread",
    "events_not_kept.tcp_ip",       "events_not_kept.job",         "events_not_kept.udp_ip",
    "events_not_kept.registry",     "events_not_kept.dbg_print",   "events_not_kept.config",
    "events_not_kept.spare1",       "events_not_kept.wnf",         "events_not_kept.pool",
    "events_not_kept.perf_info",    "events_not_kept.heap",        "events_not_kept.object",
    "events_not_kept.power",        "events_not_kept.mod_bound",   "events_not_kept.image",
    "events_not_kept.dpc",          "events_not_kept.cc_or_gdi",   "events_not_kept.crit_sec",
    "events_not_kept.stack_walk",   "events_not_kept.ums",         "events_not_kept.alpc",
    "events_not_kept.split_io",     "events_not_kept.thread_pool", "events_not_kept.hypervisor",
    "events_not_kept.hypervisor_x", "events_not_kept.other_group", "events_not_kept.other_class",
    "events_not_kept.provider",
};

/// Extended data items that are neither callstacks nor names.
inline constexpr std::string_view kItemsNotKept = "event_fields_not_kept.extended_items";
/// WPP messages, whose text is in their program's symbol file.
inline constexpr std::string_view kMessagesNotKept = "events_not_kept.wpp_message";

/// Counts them.
class EventsNotKept {
 public:
  void add(const EventView& event, const EventPlace& place) {
    Group& group = groups_[group_of(event)];
    if (group.count++ == 0) {
      group.first_offset = place.file_offset;
    }
    bytes_ += place.stored_plain ? event.payload.size() : 0;
  }

  void report(capture::LossCounters& losses) const {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].count != 0) {
        losses.add(kEventsNotKept[i], LossKind::kNotice, groups_[i].count, groups_[i].first_offset);
      }
    }
  }

  /// Of the payloads of those that are not compressed.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kGroups = std::size(kEventsNotKept);
  static constexpr std::size_t kKernelGroups = kGroups - 3;

  static std::size_t group_of(const EventView& event) {
    switch (event.cls) {
      case EventClass::kKernel:
        return event.group < kKernelGroups ? event.group : kKernelGroups;
      case EventClass::kClass:
        return kKernelGroups + 1;
      case EventClass::kProvider:
        break;
    }
    return kKernelGroups + 2;
  }

  struct Group {
    std::uint64_t count = 0;
    std::uint64_t first_offset = 0;
  };

  std::array<Group, kGroups> groups_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace stackpack::etl
