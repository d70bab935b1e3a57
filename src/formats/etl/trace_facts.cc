#include "formats/etl/trace_facts.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace stackpack::etl {

void keep_trace_totals(const TraceSummary& summary, capture::SystemRecorder& system) {
  const struct {
    std::string_view name;
    std::uint64_t count;
  } totals[] = {
      {"events", summary.events},
      {"wpp_messages", summary.wpp_messages},
      {"buffers", summary.buffers},
      {"buffers_declared", summary.declared_buffers},
      {"buffers_compressed", summary.compressed_buffers},
      {"decoded_bytes", summary.decoded_bytes},
      {"fragments_inline", summary.fragments_inline},
      {"key_references", summary.key_references},
      {"key_definitions", summary.key_definitions},
      {"undefined_references", summary.undefined_references},
      {"joined_stacks", summary.joined_stacks},
      {"kernel_only", summary.kernel_only},
      {"user_only", summary.user_only},
      {"kernel_and_user", summary.kernel_and_user},
      {"user_half_of_another_event", summary.borrowed_user_halves},
      {"kernel_half_without_user_half", summary.stale_kernel_halves},
      {"late_user_halves", summary.late_user_halves},
      {"joined_frames", summary.joined_frames},
      {"extended_items", summary.extended_items},
      {"extended_stacks", summary.extended_stacks},
      {"extended_frames", summary.extended_frames},
      {"clr_stacks", summary.clr_stacks},
      {"clr_frames", summary.clr_frames},
      {"clr_stacks_without_event", summary.clr_stacks_without_event},
      {"timer_samples", summary.timer_samples},
      {"counter_samples", summary.counter_samples},
      {"samples_with_stack", summary.samples_with_stack},
      {"samples_without_stack", summary.samples_without_stack},
      {"samples_not_idle", summary.samples_not_idle},
      {"context_switches", summary.context_switches},
      {"ready_thread", summary.ready_thread},
      {"processes", summary.processes},
      {"threads", summary.threads},
      {"image_events", summary.image_events},
      {"images", summary.images},
      {"pdb_records", summary.pdb_records},
  };
  for (const auto& total : totals) {
    system.metadata("etl.total." + std::string(total.name), std::to_string(total.count));
  }
  for (const auto& [kind, count] : summary.event_counts) {
    system.metadata("etl.event." + kind, std::to_string(count));
  }
}

}  // namespace stackpack::etl
