#include "spk/read/verifier.h"

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <vector>

#include "core/guard.h"
#include "core/task_line.h"
#include "spk/format/layout.h"
#include "spk/format/table_rules.h"
#include "stackpack/names.h"
#include "stackpack/sample_cursor.h"
#include "stackpack/sources.h"

namespace stackpack::spk {

namespace {

Error mismatch(std::string_view what) {
  return {ErrorCode::kCorrupt, kNoOffset, what};
}

// What samples, or the counts of a file without them, add up to.
struct SampleTotals {
  std::vector<bool> recorded_stack;
  std::vector<std::uint64_t> samples_of_event;
  std::uint64_t total = 0;
  std::uint64_t recorded = 0;
  std::uint64_t unwound = 0;
  std::uint64_t ip_only = 0;
  std::uint64_t none = 0;
  std::uint64_t empty_chains = 0;
  std::uint64_t stack_dump_only = 0;
  std::uint64_t raw_frames = 0;

  SampleTotals(std::size_t stacks, std::size_t events)
      : recorded_stack(stacks), samples_of_event(events) {}

  // Of as many callstacks and events.
  void add(const SampleTotals& other) {
    for (std::size_t stack = 0; stack < recorded_stack.size(); ++stack) {
      recorded_stack[stack] = recorded_stack[stack] || other.recorded_stack[stack];
    }
    for (std::size_t event = 0; event < samples_of_event.size(); ++event) {
      samples_of_event[event] += other.samples_of_event[event];
    }
    total += other.total;
    recorded += other.recorded;
    unwound += other.unwound;
    ip_only += other.ip_only;
    none += other.none;
    empty_chains += other.empty_chains;
    stack_dump_only += other.stack_dump_only;
    raw_frames += other.raw_frames;
  }
};

// What is known of a file besides.
struct Totals {
  std::vector<std::uint16_t> depth_of_stack;
  std::vector<std::uint32_t> leaf_of_stack;  // dictionary index
  std::size_t events = 0;
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
Status check_seam(const PageDecoder& decoder, const FrameDictionary& dictionary,
                  const std::vector<std::uint32_t>& path_before, std::uint64_t offset) {
  const std::span<const std::uint32_t> spine = decoder.spine();
  const bool fits = spine.size() <= path_before.size() &&
                    std::equal(spine.begin(), spine.end(), path_before.begin()) &&
                    (spine.size() == path_before.size() ||
                     dictionary[path_before[spine.size()]] < dictionary[decoder.first_frame()]);
  return fits ? Status{}
              : Status{Error{ErrorCode::kCorrupt, offset,
                             "spk: page does not follow the page before"}};
}

// All pages of a DAG fit together and use each of its frames. `visit` is given each page.
template <typename Visit>
Status check_pages(BlockReader& blocks, DagStore& dag, const Visit& visit) {
  BlockReader::Lease scratch = blocks.borrow();
  std::vector<std::uint32_t> path;
  std::vector<bool> used(dag.dictionary().size());
  bool last_ends = true;
  for (std::uint64_t number = 0; number < dag.pages().size(); ++number) {
    const Result<ResidentPage> page = dag.read_page(number, *scratch);
    if (!page) {
      return page.error();
    }
    const std::uint64_t offset = dag.pages()[static_cast<std::size_t>(number)].offset;
    if (const Status seam = check_seam(scratch->pages, dag.dictionary(), path, offset); !seam) {
      return seam;
    }
    if (!last_ends && scratch->pages.spine().size() != path.size()) {
      return Error{ErrorCode::kCorrupt, offset, "spk: leaf before the page ends no callstack"};
    }
    scratch->pages.last_path(path);
    last_ends = page->last_node_ends_stack();
    visit(*page);
    for (const ResidentPage::Node& node : scratch->pages.nodes()) {
      used[node.frame] = true;
    }
  }
  if (!last_ends) {
    return mismatch("spk: the last leaf ends no callstack");
  }
  return std::find(used.begin(), used.end(), false) == used.end()
             ? Status{}
             : mismatch("spk: frame of the dictionary that is in no callstack");
}

Status check_callstacks(const VerifiedParts& parts, Totals& totals) {
  std::vector<Frame> frames;
  return check_pages(parts.blocks, parts.dag, [&](const ResidentPage& page) {
    for (std::uint32_t stack = 0; stack < page.stack_count(); ++stack) {
      page.read_stack(stack, parts.dag.dictionary(), parts.dag.edges(), frames);
      totals.depth_of_stack.push_back(static_cast<std::uint16_t>(frames.size()));
      totals.leaf_of_stack.push_back(page.leaf_of(stack, parts.dag.edges()));
    }
  });
}

// Branch stacks decode, and samples name such that there are.
Status check_branch_stacks(const Reader& reader, const VerifiedParts& parts) {
  if (const Status loaded = parts.branch_stacks.load(); !loaded) {
    return loaded;
  }
  if (!parts.branch_stacks.empty()) {
    const Status pages =
        check_pages(parts.blocks, parts.branch_stacks.dag(), [](const ResidentPage& /*page*/) {});
    if (!pages) {
      return pages;
    }
  }
  if (parts.branch_stacks.has_cycles()) {
    const Status cycles = check_pages(parts.blocks, parts.branch_stacks.cycles(),
                                      [](const ResidentPage& /*page*/) {});
    if (!cycles) {
      return cycles;
    }
  }
  Status found;
  std::vector<StackedBranch> branches;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      if (found = reader.branch_stack(row, branches); !found) {
        return false;
      }
    }
    return true;
  });
  return found ? read : found;
}

Status add_sample(const StoredSample& sample, std::uint64_t count, const Totals& file,
                  SampleTotals& totals) {
  totals.total += count;
  totals.samples_of_event[sample.event] += count;
  totals.none += sample.origin == StackOrigin::kNone ? count : 0;
  totals.ip_only += sample.origin == StackOrigin::kIpOnly ? count : 0;
  const bool recorded = has_chain(sample.origin);
  totals.empty_chains += (sample.flags & kSampleEmptyChain) != 0 ? count : 0;
  totals.stack_dump_only += !recorded && (sample.flags & kSampleStackDump) != 0 ? count : 0;
  if (!fits_callstack(sample.origin, sample.stack)) {
    return mismatch("spk: sample whose origin does not fit its callstack");
  }
  if (sample.stack == kNoStack) {
    return {};
  }
  if (recorded) {
    totals.recorded += count;
    totals.unwound += sample.origin == StackOrigin::kUnwound ? count : 0;
    totals.raw_frames += count * file.depth_of_stack[sample.stack];
    totals.recorded_stack[sample.stack] = true;
  }
  return {};
}

Status check_counts(const Reader& reader, const Totals& file, SampleTotals& totals) {
  const Result<std::vector<StackCount>> counts = reader.stack_counts();
  if (!counts) {
    return counts.error();
  }
  if (const Status rows = check_stack_counts(counts.value()); !rows) {
    return rows;
  }
  for (const StackCount& row : counts.value()) {
    StoredSample sample;
    sample.event = row.event;
    sample.origin = row.origin;
    sample.stack = row.stack;
    if (const Status added = add_sample(sample, row.samples, file, totals); !added) {
      return added;
    }
  }
  return {};
}

// What was found in a block of samples.
struct CheckedBlock {
  Status status;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

CheckedBlock check_block(const SampleColumns& samples, const Totals& file, SampleTotals& totals) {
  CheckedBlock block{{}, samples.time_ns.front(), samples.time_ns.back()};
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < samples.rows && block.status; ++i) {
    StoredSample sample;
    sample.time_ns = samples.time_ns[i];
    sample.event = samples.event[i];
    sample.origin = samples.origin[i];
    sample.flags = samples.flags[i];
    sample.stack = samples.stack[i];
    block.status = sample.time_ns < before
                       ? Status{mismatch("spk: samples are not in order of time")}
                       : add_sample(sample, 1, file, totals);
    before = sample.time_ns;
  }
  return block;
}

// On as many threads as there are processors, each with totals of its own.
Status check_samples(const Reader& reader, const Totals& file, SampleTotals& totals) {
  if (!reader.has_samples()) {
    return check_counts(reader, file, totals);
  }
  std::array<std::optional<SampleTotals>, SamplePass::kWorkers> of_worker;
  std::array<CheckedBlock, SamplePass::kPlaces> blocks;
  std::uint64_t before = 0;
  SampleScan all;
  all.columns = kAllSampleColumns;
  SamplePass pass;
  pass.make = [&](std::size_t worker, std::size_t place, const SampleColumns& samples) {
    if (!of_worker[worker]) {
      of_worker[worker].emplace(file.depth_of_stack.size(), file.events);
    }
    blocks[place] = check_block(samples, file, *of_worker[worker]);
    return Status{};
  };
  pass.take = [&](std::size_t place) -> Status {
    const CheckedBlock& block = blocks[place];
    if (block.first_ns < before) {
      return mismatch("spk: samples are not in order of time");
    }
    before = block.last_ns;
    return block.status;
  };
  if (const Status read = visit_samples_in_parts(reader, all, pass); !read) {
    return read;
  }
  for (const std::optional<SampleTotals>& some : of_worker) {
    if (some) {
      totals.add(*some);
    }
  }
  return {};
}

// Rows of samples name control groups and labels that there are.
Status check_fields(const Reader& reader) {
  const auto groups = reader.control_groups();
  if (!groups) {
    return groups.error();
  }
  if (const Status rules = check_control_groups(*groups); !rules) {
    return rules;
  }
  const Status labels = reader.label_sets([](std::span<const LabelSet> /*sets*/) { return true; });
  if (!labels) {
    return labels;
  }
  const std::uint64_t label_sets = reader.label_set_count();
  bool known = true;
  bool labelled = true;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      labelled = labelled && (!row.has(SampleField::kLabelSet) ||
                              row.value(SampleField::kLabelSet) < label_sets);
      known = known && (!row.has(SampleField::kControlGroup) ||
                        row.value(SampleField::kControlGroup) < groups->size());
    }
    return known && labelled;
  });
  if (!labelled) {
    return mismatch("spk: a sample has labels that are not there");
  }
  return known ? read : Status{mismatch("spk: a sample is of a control group that is not there")};
}

template <typename Value>
Status outcome_of(const Result<Value>& result) {
  return result ? Status{} : Status(result.error());
}

// Sections whose rows follow rules of their own decode as a whole.
Status check_rows(const Reader& reader) {
  Status status = outcome_of(reader.names());
  status = status ? outcome_of(reader.sources()) : status;
  status = status ? outcome_of(reader.branches()) : status;
  status = status
               ? reader.intervals({}, [](std::span<const WaitInterval> /*rows*/) { return true; })
               : status;
  status = status ? outcome_of(reader.event_value_texts()) : status;
  status = status ? reader.event_values([](std::span<const EventValue> /*rows*/) { return true; })
                  : status;
  return status ? check_fields(reader) : status;
}

// The tables decode and follow their rules, and the statistics have their lengths.
Status check_tables(const Reader& reader, Totals& totals) {
  const Statistics& statistics = reader.statistics();
  const auto events = reader.events();
  const auto processes = reader.processes();
  const auto threads = reader.threads();
  const auto modules = reader.modules();
  const auto metadata = reader.metadata();
  for (const Status& read : {outcome_of(events), outcome_of(processes), outcome_of(threads),
                             outcome_of(modules), outcome_of(metadata)}) {
    if (!read) {
      return read;
    }
  }
  if (const Status rows = check_rows(reader); !rows) {
    return rows;
  }
  totals.events = events->size();
  const bool same =
      statistics.processes == processes->size() && statistics.threads == threads->size() &&
      statistics.modules == modules->size() &&
      std::equal(
          events->begin(), events->end(), statistics.events.begin(), statistics.events.end(),
          [](const Event& event, const EventCount& count) { return event.name == count.name; });
  if (!same) {
    return mismatch("spk: statistics do not fit the tables");
  }
  for (const Status& rules :
       {check_processes(*processes), check_threads(*threads), check_modules(*modules),
        check_metadata(*metadata), check_summary(statistics)}) {
    if (!rules) {
      return rules;
    }
  }
  return {};
}

// What a file without samples cannot show exactly has bounds. Older writers did not count dumps.
bool fits_flags(const Statistics& statistics, const SampleTotals& totals, bool exact) {
  const std::uint64_t not_recorded = totals.ip_only + totals.none;
  return exact ? statistics.samples.empty_chains == totals.empty_chains &&
                     statistics.samples.unwound == totals.unwound &&
                     (statistics.samples.stack_dump_only == totals.stack_dump_only ||
                      statistics.samples.stack_dump_only == 0)
               : statistics.samples.empty_chains <= totals.total &&
                     statistics.samples.unwound <= totals.recorded &&
                     statistics.samples.stack_dump_only <= not_recorded;
}

bool fits_nodes(const Statistics& statistics, const VerifiedParts& parts) {
  return statistics.dag.nodes == parts.dag.node_count() &&
         statistics.dag.pages == parts.dag.pages().size() &&
         statistics.dag.distinct_frames == parts.dag.dictionary().size() &&
         statistics.callstacks.stored == parts.dag.stack_count();
}

bool fits_stacks(const Statistics& statistics, const VerifiedParts& parts, const Totals& file,
                 const SampleTotals& totals) {
  std::uint64_t unique = 0;
  std::uint64_t unique_frames = 0;
  std::uint64_t max_depth = 0;
  std::vector<bool> leaf(parts.dag.dictionary().size());
  for (std::size_t stack = 0; stack < file.depth_of_stack.size(); ++stack) {
    if (totals.recorded_stack[stack]) {
      ++unique;
      unique_frames += file.depth_of_stack[stack];
      max_depth = std::max<std::uint64_t>(max_depth, file.depth_of_stack[stack]);
      leaf[file.leaf_of_stack[stack]] = true;
    }
  }
  return statistics.callstacks.unique == unique &&
         statistics.callstacks.unique_frames == unique_frames &&
         statistics.callstacks.unique_leaf_frames ==
             static_cast<std::uint64_t>(std::count(leaf.begin(), leaf.end(), true)) &&
         statistics.callstacks.max_depth == max_depth &&
         statistics.callstacks.raw_frames == totals.raw_frames;
}

Status compare(const Reader& reader, const VerifiedParts& parts, const Totals& file,
               const SampleTotals& totals) {
  const Statistics& statistics = reader.statistics();
  if (!fits_nodes(statistics, parts)) {
    return mismatch("spk: statistics do not fit the nodes");
  }
  if (!fits_stacks(statistics, parts, file, totals)) {
    return mismatch("spk: statistics do not fit the callstacks");
  }
  const bool samples =
      statistics.samples.total == totals.total && statistics.samples.recorded == totals.recorded &&
      statistics.samples.ip_only == totals.ip_only && statistics.samples.none == totals.none &&
      fits_flags(statistics, totals, reader.has_samples());
  const bool events = std::equal(
      statistics.events.begin(), statistics.events.end(), totals.samples_of_event.begin(),
      totals.samples_of_event.end(),
      [](const EventCount& event, std::uint64_t count) { return event.samples == count; });
  if (!samples || !events) {
    return mismatch("spk: statistics do not fit the samples");
  }
  return check_stored_bytes(statistics, parts.file.directory);
}

// All but the checksums of blocks that nothing looks at otherwise.
Status check_content(const Reader& reader, const VerifiedParts& parts) {
  Totals file;
  if (const Status loaded = parts.dag.load(); !loaded) {
    return loaded;
  }
  if (const Status tables = check_tables(reader, file); !tables) {
    return tables;
  }
  if (const Status callstacks = check_callstacks(parts, file); !callstacks) {
    return callstacks;
  }
  if (const Status branches = check_branch_stacks(reader, parts); !branches) {
    return branches;
  }
  SampleTotals totals(file.depth_of_stack.size(), file.events);
  if (const Status samples = check_samples(reader, file, totals); !samples) {
    return samples;
  }
  return compare(reader, parts, file, totals);
}

}  // namespace

// Checksums are looked at by another thread; what it finds comes first.
Status verify(const Reader& reader, const VerifiedParts& parts) {
  core::TaskLine line(std::thread::hardware_concurrency() > 1 ? 1 : 0,
                      [&parts](unsigned /*worker*/, core::TaskLine::Task& /*task*/) {
                        return check_blocks(parts);
                      });
  core::TaskLine::Task blocks;
  line.submit(blocks);
  const Status content = core::guarded([&] { return check_content(reader, parts); });
  const Status sound = line.collect(blocks);
  return sound ? content : sound;
}

}  // namespace stackpack::spk
