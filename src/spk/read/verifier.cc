#include "spk/read/verifier.h"

#include <algorithm>
#include <vector>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

Error mismatch(std::string_view what) {
  return {ErrorCode::kCorrupt, kNoOffset, what};
}

// What the samples, or the counts of a file without them, add up to.
struct Totals {
  std::vector<std::uint16_t> depth_of_stack;
  std::vector<bool> recorded_stack;
  std::vector<std::uint64_t> samples_of_event;
  std::uint64_t total = 0;
  std::uint64_t recorded = 0;
  std::uint64_t ip_only = 0;
  std::uint64_t none = 0;
  std::uint64_t empty_chains = 0;
  std::uint64_t raw_frames = 0;
};

// Every block of every section: checksums and frames. What a block means is checked by its reader.
Status check_blocks(const VerifiedParts& parts) {
  BlockReader::Lease scratch = parts.blocks.borrow();
  for (const SectionRecord& section : parts.file.directory.sections) {
    if (const Status done =
            for_each_block(parts.blocks, section, *scratch,
                           [](const bytes::ByteCursor& /*content*/) { return Status{}; });
        !done) {
      return done;
    }
  }
  return {};
}

// Where the nodes of one page begin and end, to see that the pages fit together.
Status check_seam(const PageDecoder& decoder, const std::vector<std::uint32_t>& path_before,
                  std::uint64_t offset) {
  const std::span<const std::uint32_t> spine = decoder.spine();
  const bool fits =
      spine.size() <= path_before.size() &&
      std::equal(spine.begin(), spine.end(), path_before.begin()) &&
      (spine.size() == path_before.size() || path_before[spine.size()] < decoder.first_frame());
  return fits ? Status{}
              : Status{Error{ErrorCode::kCorrupt, offset,
                             "spk: page does not follow the page before"}};
}

Status check_pages(const VerifiedParts& parts, Totals& totals) {
  BlockReader::Lease scratch = parts.blocks.borrow();
  std::vector<std::uint32_t> path;
  std::vector<Frame> frames;
  bool last_ends = true;
  for (std::uint64_t number = 0; number < parts.dag.pages().size(); ++number) {
    const Result<ResidentPage> page = parts.dag.read_page(number, *scratch);
    if (!page) {
      return page.error();
    }
    const std::uint64_t offset = parts.dag.pages()[static_cast<std::size_t>(number)].offset;
    if (const Status seam = check_seam(scratch->pages, path, offset); !seam) {
      return seam;
    }
    if (!last_ends && scratch->pages.spine().size() != path.size()) {
      return Error{ErrorCode::kCorrupt, offset, "spk: leaf before the page ends no callstack"};
    }
    scratch->pages.last_path(path);
    last_ends = page->last_node_ends_stack();
    for (std::uint32_t stack = 0; stack < page->stack_count(); ++stack) {
      frames.clear();
      page->append_stack(stack, parts.dag.dictionary(), parts.dag.edges(), frames);
      totals.depth_of_stack.push_back(static_cast<std::uint16_t>(frames.size()));
    }
  }
  return last_ends ? Status{} : mismatch("spk: the last leaf ends no callstack");
}

Status add_sample(const StoredSample& sample, std::uint64_t count, Totals& totals) {
  totals.total += count;
  totals.samples_of_event[sample.event] += count;
  totals.none += sample.origin == StackOrigin::kNone ? count : 0;
  totals.ip_only += sample.origin == StackOrigin::kIpOnly ? count : 0;
  totals.empty_chains += (sample.flags & kSampleEmptyChain) != 0 ? count : 0;
  if ((sample.origin == StackOrigin::kNone) != (sample.stack == kNoStack)) {
    return mismatch("spk: sample whose origin does not fit its callstack");
  }
  if (sample.stack == kNoStack) {
    return {};
  }
  if (sample.origin == StackOrigin::kRecorded) {
    totals.recorded += count;
    totals.raw_frames += count * totals.depth_of_stack[sample.stack];
    totals.recorded_stack[sample.stack] = true;
  }
  return {};
}

Status check_samples(const Reader& reader, const VerifiedParts& parts, Totals& totals) {
  if (!reader.has_samples()) {
    const Result<std::vector<Reader::StackCount>> counts = reader.stack_counts();
    if (!counts) {
      return counts.error();
    }
    for (const Reader::StackCount& row : counts.value()) {
      StoredSample sample;
      sample.event = row.event;
      sample.origin = row.origin;
      sample.stack = row.stack;
      if ((row.stack != kNoStack && row.stack >= parts.dag.stack_count()) ||
          row.event >= totals.samples_of_event.size()) {
        return mismatch("spk: count of an unknown callstack or event");
      }
      if (const Status added = add_sample(sample, row.samples, totals); !added) {
        return added;
      }
    }
    return {};
  }
  Status status;
  const Status read = reader.samples({}, [&](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      if (status = add_sample(sample, 1, totals); !status) {
        return false;
      }
    }
    return true;
  });
  return read ? status : read;
}

// The tables decode, and the statistics tell their lengths.
Status check_tables(const Reader& reader, Totals& totals) {
  const Statistics& statistics = reader.statistics();
  const auto events = reader.events();
  const auto processes = reader.processes();
  const auto threads = reader.threads();
  const auto modules = reader.modules();
  const auto metadata = reader.metadata();
  if (!events) {
    return events.error();
  }
  if (!processes) {
    return processes.error();
  }
  if (!threads) {
    return threads.error();
  }
  if (!modules) {
    return modules.error();
  }
  if (!metadata) {
    return metadata.error();
  }
  totals.samples_of_event.resize(events->size());
  const bool same =
      statistics.processes == processes->size() && statistics.threads == threads->size() &&
      statistics.modules == modules->size() &&
      std::equal(
          events->begin(), events->end(), statistics.events.begin(), statistics.events.end(),
          [](const Event& event, const EventCount& count) { return event.name == count.name; });
  return same ? Status{} : mismatch("spk: statistics do not fit the tables");
}

// Summaries of older writers have no reasons.
bool skips_add_up(const Statistics& statistics) {
  std::uint64_t sum = 0;
  for (const SkippedBytesCount& skip : statistics.source_skipped_by_reason) {
    sum += skip.bytes;
  }
  return statistics.source_skipped_by_reason.empty() || sum == statistics.source_skipped_bytes;
}

Status compare(const Reader& reader, const VerifiedParts& parts, const Totals& totals) {
  const Statistics& statistics = reader.statistics();
  std::uint64_t unique = 0;
  std::uint64_t unique_frames = 0;
  std::uint64_t max_depth = 0;
  for (std::size_t stack = 0; stack < totals.depth_of_stack.size(); ++stack) {
    if (totals.recorded_stack[stack]) {
      ++unique;
      unique_frames += totals.depth_of_stack[stack];
      max_depth = std::max<std::uint64_t>(max_depth, totals.depth_of_stack[stack]);
    }
  }
  const bool dag = statistics.dag.nodes == parts.dag.node_count() &&
                   statistics.dag.pages == parts.dag.pages().size() &&
                   statistics.dag.distinct_frames == parts.dag.dictionary().size() &&
                   statistics.callstacks.stored == parts.dag.stack_count();
  const bool stacks = statistics.callstacks.unique == unique &&
                      statistics.callstacks.unique_frames == unique_frames &&
                      statistics.callstacks.max_depth == max_depth &&
                      statistics.callstacks.raw_frames == totals.raw_frames;
  const bool samples =
      statistics.samples.total == totals.total && statistics.samples.recorded == totals.recorded &&
      statistics.samples.ip_only == totals.ip_only && statistics.samples.none == totals.none &&
      (!reader.has_samples() || statistics.samples.empty_chains == totals.empty_chains);
  const bool events = std::equal(
      statistics.events.begin(), statistics.events.end(), totals.samples_of_event.begin(),
      totals.samples_of_event.end(),
      [](const EventCount& event, std::uint64_t count) { return event.samples == count; });
  if (!dag) {
    return mismatch("spk: statistics do not fit the nodes");
  }
  if (!stacks) {
    return mismatch("spk: statistics do not fit the callstacks");
  }
  if (!skips_add_up(statistics)) {
    return mismatch("spk: skipped bytes do not add up");
  }
  return samples && events ? Status{} : mismatch("spk: statistics do not fit the samples");
}

}  // namespace

Status verify(const Reader& reader, const VerifiedParts& parts) {
  Totals totals;
  if (const Status blocks = check_blocks(parts); !blocks) {
    return blocks;
  }
  if (const Status loaded = parts.dag.load(); !loaded) {
    return loaded;
  }
  if (const Status tables = check_tables(reader, totals); !tables) {
    return tables;
  }
  if (const Status pages = check_pages(parts, totals); !pages) {
    return pages;
  }
  totals.recorded_stack.resize(totals.depth_of_stack.size());
  if (const Status samples = check_samples(reader, parts, totals); !samples) {
    return samples;
  }
  return compare(reader, parts, totals);
}

}  // namespace stackpack::spk
