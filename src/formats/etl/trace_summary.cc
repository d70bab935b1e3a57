#include "formats/etl/trace_summary.h"

namespace stackpack::etl {

namespace {

constexpr std::uint64_t TraceSummary::*kTotals[] = {
    &TraceSummary::events,
    &TraceSummary::wpp_messages,
    &TraceSummary::buffers,
    &TraceSummary::compressed_buffers,
    &TraceSummary::decoded_bytes,
    &TraceSummary::declared_buffers,
    &TraceSummary::fragments_inline,
    &TraceSummary::key_references,
    &TraceSummary::key_definitions,
    &TraceSummary::undefined_references,
    &TraceSummary::joined_stacks,
    &TraceSummary::kernel_only,
    &TraceSummary::user_only,
    &TraceSummary::kernel_and_user,
    &TraceSummary::borrowed_user_halves,
    &TraceSummary::stale_kernel_halves,
    &TraceSummary::late_user_halves,
    &TraceSummary::joined_frames,
    &TraceSummary::extended_items,
    &TraceSummary::extended_items_with_match_id,
    &TraceSummary::extended_stacks,
    &TraceSummary::extended_frames,
    &TraceSummary::clr_stacks,
    &TraceSummary::clr_frames,
    &TraceSummary::clr_stacks_without_event,
    &TraceSummary::timer_samples,
    &TraceSummary::counter_samples,
    &TraceSummary::samples_with_stack,
    &TraceSummary::samples_without_stack,
    &TraceSummary::samples_not_idle,
    &TraceSummary::context_switches,
    &TraceSummary::ready_thread,
    &TraceSummary::processes,
    &TraceSummary::threads,
    &TraceSummary::image_events,
    &TraceSummary::images,
    &TraceSummary::pdb_records,
};

}  // namespace

void TraceSummary::add(const TraceSummary& other) {
  for (const auto& [kind, count] : other.event_counts) {
    event_counts[kind] += count;
  }
  for (std::uint64_t TraceSummary::*const total : kTotals) {
    this->*total += other.*total;
  }
  if (compression.empty()) {
    compression = other.compression;
  } else if (compression != other.compression) {
    compression = "mixed";
  }
}

}  // namespace stackpack::etl
