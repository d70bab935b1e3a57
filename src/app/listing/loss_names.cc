#include "app/listing/loss_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::app {

namespace {

// A reason for bytes to be passed over may be a counter, too; those are not repeated here.
constexpr std::array<std::string_view, 74> kCounters{
    "absurd_sequence_numbers",
    "appended_sessions",
    "bad_attributes",
    "bad_buffer_sizes",
    "bad_context_switches",
    "bad_method_events",
    "bad_profile_events",
    "bad_stack_events",
    "bad_system_events",
    "buffer_sizes_disagree",
    "buffers_beyond_declared",
    "buffers_beyond_their_space",
    "buffers_flagged_buffer_lost",
    "buffers_flagged_events_lost",
    "buffers_of_wrong_type",
    "buffers_without_size",
    "callchain_unknown_context_values",
    "clock_frequency_unknown",
    "clock_laps",
    "clock_went_back",
    "clr_stacks_without_event",
    "compressed_input_left",
    "compressed_size_overflow",
    "compression_format_corrected",
    "counters_went_back",
    "cut_unused_space",
    "data_section_cut",
    "data_size_missing",
    "declared_buffers_not_found",
    "deferred_chains_released_early",
    "deferred_chains_unmatched",
    "doubtful_kernel_events",
    "empty_stack_definitions",
    "empty_stack_fragments",
    "event_ids_missing",
    "events_of_uncounted_kinds",
    "late_user_halves",
    "missing_buffers",
    "orphan_stacks",
    "outside_payload_cut",
    "overlong_events",
    "overlong_records",
    "overlong_samples",
    "pprof_addresses_told_by_name",
    "pprof_build_id_not_hex",
    "pprof_damaged_sample",
    "pprof_damaged_table_entry",
    "pprof_labels_not_kept",
    "pprof_missing_string",
    "pprof_negative_value",
    "pprof_overlapping_mappings",
    "pprof_sample_of_other_width",
    "pprof_sample_of_zeros",
    "pprof_unknown_function",
    "pprof_unknown_location",
    "pprof_unknown_mapping",
    "processors_merged_late",
    "processors_out_of_sequence",
    "record_header_damaged",
    "recorder_lost_buffers",
    "recorder_lost_events",
    "recorder_lost_samples",
    "repeated_sequence_numbers",
    "sample_records_without_counts",
    "samples_with_unread_bytes",
    "session_not_ended",
    "system_facts_over_memory_limit",
    "throttle_events",
    "undefined_stack_keys",
    "unknown_counter_ids",
    "unthrottle_events",
    "unused_stack_definitions",
    "unused_tail_bytes",
    "user_stack_dump_without_chain",
};

}  // namespace

std::vector<std::string> skip_reason_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < capture::kSkipReasons; ++i) {
    names.emplace_back(name_of(static_cast<capture::SkipReason>(i)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names = skip_reason_names();
  names.insert(names.end(), kCounters.begin(), kCounters.end());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stackpack::app
