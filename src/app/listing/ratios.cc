#include "app/listing/ratios.h"

#include <algorithm>

namespace stackpack::app {

namespace {

void add_events(std::vector<EventCount>& sum, const std::vector<EventCount>& more) {
  for (const EventCount& event : more) {
    const auto found = std::find_if(sum.begin(), sum.end(), [&event](const EventCount& other) {
      return other.name == event.name;
    });
    if (found == sum.end()) {
      sum.push_back(event);
    } else {
      found->samples += event.samples;
    }
  }
}

void add_losses(std::vector<LossCounter>& sum, const std::vector<LossCounter>& more) {
  for (const LossCounter& loss : more) {
    const auto place = std::lower_bound(
        sum.begin(), sum.end(), loss,
        [](const LossCounter& left, const LossCounter& right) { return left.name < right.name; });
    if (place == sum.end() || place->name != loss.name) {
      // An offset means something in one file only.
      sum.insert(place, LossCounter{loss.name, loss.kind, loss.count, ~std::uint64_t{0}});
    } else {
      place->count += loss.count;
    }
  }
}

void add_skips(std::vector<SkippedBytesCount>& sum, const std::vector<SkippedBytesCount>& more) {
  for (const SkippedBytesCount& skip : more) {
    const auto place = std::lower_bound(
        sum.begin(), sum.end(), skip,
        [](const auto& left, const auto& right) { return left.reason < right.reason; });
    if (place == sum.end() || place->reason != skip.reason) {
      sum.insert(place, skip);
    } else {
      place->bytes += skip.bytes;
    }
  }
}

}  // namespace

void add_statistics(Statistics& sum, const Statistics& more) {
  if (sum.source_kind.empty()) {
    sum.source_kind = more.source_kind;
  } else if (sum.source_kind != more.source_kind) {
    sum.source_kind = "mixed";
  }
  sum.source_bytes += more.source_bytes;
  sum.source_parsed_bytes += more.source_parsed_bytes;
  sum.source_padding_bytes += more.source_padding_bytes;
  sum.source_skipped_bytes += more.source_skipped_bytes;
  add_skips(sum.source_skipped_by_reason, more.source_skipped_by_reason);
  sum.samples.total += more.samples.total;
  sum.samples.records += more.samples.records;
  sum.samples.recorded += more.samples.recorded;
  sum.samples.ip_only += more.samples.ip_only;
  sum.samples.none += more.samples.none;
  sum.samples.empty_chains += more.samples.empty_chains;
  sum.samples.stack_dump_only += more.samples.stack_dump_only;
  sum.callstacks.raw_frames += more.callstacks.raw_frames;
  sum.callstacks.unique += more.callstacks.unique;
  sum.callstacks.unique_frames += more.callstacks.unique_frames;
  sum.callstacks.unique_leaf_frames += more.callstacks.unique_leaf_frames;
  sum.callstacks.max_depth = std::max(sum.callstacks.max_depth, more.callstacks.max_depth);
  sum.callstacks.stored += more.callstacks.stored;
  sum.dag.nodes += more.dag.nodes;
  sum.dag.distinct_frames += more.dag.distinct_frames;
  sum.dag.pages += more.dag.pages;
  sum.dag.stored_bytes += more.dag.stored_bytes;
  sum.sample_stream_bytes += more.sample_stream_bytes;
  sum.builder.lookups += more.builder.lookups;
  sum.builder.probes += more.builder.probes;
  sum.builder.frames += more.builder.frames;
  sum.builder.prefix_frames += more.builder.prefix_frames;
  sum.builder.map_bytes += more.builder.map_bytes;
  sum.builder.segments += more.builder.segments;
  sum.processes += more.processes;
  sum.threads += more.threads;
  sum.modules += more.modules;
  add_events(sum.events, more.events);
  add_losses(sum.losses, more.losses);
}

}  // namespace stackpack::app
