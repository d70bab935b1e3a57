#include "stackpack/reader.h"

#include <algorithm>
#include <thread>
#include <unordered_map>

#include "core/ordered_pipeline.h"
#include "spk/format/table_rules.h"
#include "spk/read/branch_stack_store.h"
#include "spk/read/interval_store.h"
#include "spk/read/name_store.h"
#include "spk/read/reader_impl.h"
#include "spk/read/value_store.h"
#include "spk/read/verifier.h"
#include "stackpack/names.h"
#include "stackpack/sources.h"

namespace stackpack {

namespace {

Error no_such_stack() {
  return {ErrorCode::kUsage, kNoOffset, "no callstack of that id"};
}

// The positions of the ids that are in one page.
struct PageRun {
  std::uint64_t page = 0;
  std::vector<std::size_t> positions;
};

// By page, each in the order of the ids.
std::vector<PageRun> runs_by_page(const spk::DagStore& dag, std::span<const StackId> ids) {
  std::vector<PageRun> runs;
  std::unordered_map<std::uint64_t, std::size_t> run_of_page;
  std::uint64_t first = 0;  // callstacks of the page of the id before
  std::uint64_t end = 0;
  std::size_t latest = 0;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (ids[at] >= first && ids[at] < end) {
      runs[latest].positions.push_back(at);
      continue;
    }
    const std::uint64_t page = dag.page_of(ids[at]);
    const auto [known, fresh] = run_of_page.try_emplace(page, runs.size());
    if (fresh) {
      runs.push_back({page, {}});
    }
    latest = known->second;
    const auto number = static_cast<std::size_t>(page);
    first = dag.pages()[number].first_stack;
    end = first + dag.pages()[number].stacks;
    runs[latest].positions.push_back(at);
  }
  std::sort(runs.begin(), runs.end(),
            [](const PageRun& a, const PageRun& b) { return a.page < b.page; });
  return runs;
}

using VisitStack = std::function<bool(std::size_t, std::span<const Frame>)>;

// The callstacks of a page, read ahead of their visit as far as there is room for them.
struct ReadAhead {
  const PageRun* run = nullptr;
  spk::PageCache::Pin page;  // only if not all of them are read
  std::uint64_t first = 0;   // callstack of the page
  std::vector<Frame> frames;
  std::vector<std::size_t> ends;  // of each callstack in frames
};

Status read_ahead(spk::DagStore& dag, std::span<const StackId> ids, ReadAhead& ahead) {
  constexpr std::size_t kMostFrames = std::size_t{1} << 16;
  ahead.frames.clear();
  ahead.ends.clear();
  Result<spk::PageCache::Pin> page = dag.page(ahead.run->page);
  if (!page) {
    return page.error();
  }
  ahead.first = dag.pages()[static_cast<std::size_t>(ahead.run->page)].first_stack;
  std::vector<Frame> stack;
  for (const std::size_t at : ahead.run->positions) {
    if (ahead.frames.size() >= kMostFrames) {
      ahead.page = std::move(*page);
      break;
    }
    (*page)->read_stack(static_cast<std::uint32_t>(ids[at] - ahead.first), dag.dictionary(),
                        dag.edges(), stack);
    ahead.frames.insert(ahead.frames.end(), stack.begin(), stack.end());
    ahead.ends.push_back(ahead.frames.size());
  }
  return {};
}

// False: the visitor has ended it.
bool visit_read(const spk::DagStore& dag, std::span<const StackId> ids, ReadAhead& ahead,
                const VisitStack& visit) {
  const std::span<const Frame> frames = ahead.frames;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ahead.ends.size(); ++i) {
    if (!visit(ahead.run->positions[i], frames.subspan(begin, ahead.ends[i] - begin))) {
      return false;
    }
    begin = ahead.ends[i];
  }
  std::vector<Frame> stack;
  for (std::size_t i = ahead.ends.size(); i < ahead.run->positions.size(); ++i) {
    const std::size_t at = ahead.run->positions[i];
    ahead.page->read_stack(static_cast<std::uint32_t>(ids[at] - ahead.first), dag.dictionary(),
                           dag.edges(), stack);
    if (!visit(at, stack)) {
      return false;
    }
  }
  ahead.page = {};
  return true;
}

// Other threads read the pages that come while callstacks are visited on this one.
Status visit_ahead(spk::DagStore& dag, std::span<const StackId> ids, std::span<const PageRun> runs,
                   unsigned threads, const VisitStack& visit) {
  bool stopped = false;
  core::OrderedPipeline<ReadAhead> pipeline(
      threads, threads + 2,
      [&](unsigned /*worker*/, ReadAhead& ahead) { return read_ahead(dag, ids, ahead); },
      [&](ReadAhead& ahead) -> Status {
        stopped = !visit_read(dag, ids, ahead, visit);
        return stopped ? Status(Error{ErrorCode::kUsage, kNoOffset, "stopped"}) : Status{};
      });
  Status status;
  for (const PageRun& run : runs) {
    pipeline.filling().run = &run;
    status = pipeline.submit();
    if (!status) {
      break;
    }
  }
  status = status ? pipeline.drain() : status;
  return stopped ? Status{} : status;
}

}  // namespace

Result<spk::SampleBounds> Reader::Impl::sample_bounds(const Reader& reader) {
  if (!has_samples()) {
    return Error{ErrorCode::kUsage, kNoOffset, "the file was written without samples"};
  }
  if (const Status loaded = samples.load(); !loaded) {
    return loaded.error();
  }
  const Result<std::vector<Event>> events = reader.events();
  return events ? Result<spk::SampleBounds>(spk::SampleBounds{reader.stack_count(), events->size()})
                : Result<spk::SampleBounds>(events.error());
}

Status Reader::Impl::read_block(const spk::SampleBlocks::Block& block, const SampleQuery& query,
                                const spk::SampleBounds& bounds, spk::ReadScratch& scratch,
                                std::vector<StoredSample>& rows) {
  rows.clear();
  // A block outside the time range is not even looked at.
  if (block.entry.from_ns > query.to_ns || block.entry.to_ns < query.from_ns) {
    return {};
  }
  spk::SampleHead head;
  if (const Status read = samples.read_head(block, scratch, head); !read) {
    return read;
  }
  const bool by_thread = query.pid.has_value() || query.tid.has_value();
  if (by_thread && !spk::has_wanted_thread(head, query)) {
    return {};
  }
  const auto order = query.any_order ? spk::SampleBlockDecoder::Order::kStored
                                     : spk::SampleBlockDecoder::Order::kCapture;
  if (const Status read = samples.read_body(block, head, bounds, order, scratch, rows); !read) {
    return read;
  }
  if (by_thread || block.entry.from_ns < query.from_ns || block.entry.to_ns > query.to_ns) {
    std::erase_if(rows, [&query](const auto& sample) { return !spk::matches(sample, query); });
  }
  return {};
}

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::~Reader() = default;

Result<std::unique_ptr<Reader>> Reader::open_source(std::unique_ptr<io::ByteSource> source,
                                                    const ReaderOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(source), options);
  if (const Status opened = spk::open_file(impl->blocks, impl->file); !opened) {
    return opened.error();
  }
  return std::unique_ptr<Reader>(new Reader(std::move(impl)));
}

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path,
                                             const ReaderOptions& options) {
  Result<std::unique_ptr<io::ByteSource>> source = io::open_source(path);
  if (!source) {
    return source.error();
  }
  return open_source(std::move(source).value(), options);
}

Result<std::unique_ptr<Reader>> Reader::open_descriptor(int descriptor,
                                                        const ReaderOptions& options) {
  return open_source(io::source_of_descriptor(descriptor), options);
}

Result<std::unique_ptr<Reader>> Reader::open_memory(std::span<const std::byte> file,
                                                    const ReaderOptions& options) {
  return open_source(io::source_of_memory(file), options);
}

std::uint64_t Reader::file_bytes() const {
  return impl_->file.file_bytes;
}
const Statistics& Reader::statistics() const {
  return impl_->file.statistics;
}
std::string_view Reader::fingerprint() const {
  return impl_->file.fingerprint;
}
const std::vector<SectionInfo>& Reader::sections() const {
  return impl_->file.sections;
}

StackId Reader::stack_count() const {
  return static_cast<StackId>(
      std::min<std::uint64_t>(impl_->file.statistics.callstacks.stored, kNoStack));
}

Status Reader::callstack(StackId id, std::vector<Frame>& frames) const {
  if (const Status loaded = impl_->load_dag(); !loaded) {
    return loaded;
  }
  if (id >= impl_->dag.stack_count()) {
    return no_such_stack();
  }
  const std::uint64_t number = impl_->dag.page_of(id);
  const std::uint64_t first = impl_->dag.pages()[static_cast<std::size_t>(number)].first_stack;
  return impl_->dag.read_stack(number, static_cast<std::uint32_t>(id - first), frames);
}

Status Reader::callstacks(
    std::span<const StackId> ids,
    const std::function<bool(std::size_t, std::span<const Frame>)>& visit) const {
  constexpr std::size_t kManyStacks = 16'384;  // fewer are read sooner than threads are started
  constexpr std::size_t kManyPages = 4;
  constexpr unsigned kMostThreads = 3;
  if (const Status loaded = impl_->load_dag(); !loaded) {
    return loaded;
  }
  const std::uint64_t stack_count = impl_->dag.stack_count();
  if (std::any_of(ids.begin(), ids.end(),
                  [stack_count](StackId id) { return id >= stack_count; })) {
    return no_such_stack();
  }
  const std::vector<PageRun> runs = runs_by_page(impl_->dag, ids);
  const unsigned processors = std::thread::hardware_concurrency();
  if (ids.size() >= kManyStacks && runs.size() >= kManyPages && processors > 1) {
    return visit_ahead(impl_->dag, ids, runs, std::min(kMostThreads, processors), visit);
  }
  std::vector<Frame> frames;
  for (const PageRun& run : runs) {
    const Result<spk::PageCache::Pin> page = impl_->dag.page(run.page);
    if (!page) {
      return page.error();
    }
    const std::uint64_t first = impl_->dag.pages()[static_cast<std::size_t>(run.page)].first_stack;
    for (const std::size_t at : run.positions) {
      page.value()->read_stack(static_cast<std::uint32_t>(ids[at] - first), impl_->dag.dictionary(),
                               impl_->dag.edges(), frames);
      if (!visit(at, frames)) {
        return {};
      }
    }
  }
  return {};
}

Status Reader::samples(const SampleQuery& query,
                       const std::function<bool(std::span<const StoredSample>)>& visit) const {
  const Result<spk::SampleBounds> bounds = impl_->sample_bounds(*this);
  if (!bounds) {
    return bounds.error();
  }
  spk::BlockReader::Lease scratch = impl_->blocks.borrow();
  std::vector<StoredSample> samples;
  for (const spk::SampleBlocks::Block& block : impl_->samples.blocks()) {
    if (const Status read = impl_->read_block(block, query, *bounds, *scratch, samples); !read) {
      return read;
    }
    if (!samples.empty() && !visit(samples)) {
      return {};
    }
  }
  return {};
}

Result<std::uint64_t> Reader::sample_block_count() const {
  const Result<spk::SampleBounds> bounds = impl_->sample_bounds(*this);
  return bounds ? Result<std::uint64_t>(std::uint64_t{impl_->samples.blocks().size()})
                : Result<std::uint64_t>(bounds.error());
}

Status Reader::sample_block(std::uint64_t block, const SampleQuery& query,
                            std::vector<StoredSample>& samples) const {
  const Result<spk::SampleBounds> bounds = impl_->sample_bounds(*this);
  if (!bounds) {
    return bounds.error();
  }
  if (block >= impl_->samples.blocks().size()) {
    return Error{ErrorCode::kUsage, kNoOffset, "no block of samples of that number"};
  }
  spk::BlockReader::Lease scratch = impl_->blocks.borrow();
  return impl_->read_block(impl_->samples.blocks()[static_cast<std::size_t>(block)], query, *bounds,
                           *scratch, samples);
}

bool Reader::has_samples() const {
  return impl_->has_samples();
}

Result<std::vector<StackCount>> Reader::stack_counts() const {
  if (has_samples()) {
    return Error{ErrorCode::kUsage, kNoOffset, "the file has the samples themselves"};
  }
  Result<std::vector<StackCount>> rows = impl_->table<StackCount>(spk::SectionKind::kStackCounts);
  const Result<std::vector<Event>> table = events();
  if (!table) {
    return table.error();
  }
  const auto known = [&](const StackCount& row) {
    return row.event < table->size() && (row.stack == kNoStack || row.stack < stack_count());
  };
  if (rows && !std::all_of(rows->begin(), rows->end(), known)) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: count of an unknown callstack or event"};
  }
  return rows;
}

Result<std::optional<Reader::TimeRange>> Reader::time_range() const {
  if (!has_samples()) {
    return std::optional<TimeRange>{};
  }
  if (const Status loaded = impl_->samples.load(); !loaded) {
    return loaded.error();
  }
  std::optional<TimeRange> range;
  for (const spk::SampleBlocks::Block& block : impl_->samples.blocks()) {
    range = range ? TimeRange{std::min(range->from_ns, block.entry.from_ns),
                              std::max(range->to_ns, block.entry.to_ns)}
                  : TimeRange{block.entry.from_ns, block.entry.to_ns};
  }
  return range;
}

Result<std::vector<Event>> Reader::events() const {
  return impl_->table<Event>(spk::SectionKind::kEvents);
}
Result<std::vector<Process>> Reader::processes() const {
  return impl_->table<Process>(spk::SectionKind::kProcesses);
}
Result<std::vector<Thread>> Reader::threads() const {
  return impl_->table<Thread>(spk::SectionKind::kThreads);
}
Result<std::vector<Module>> Reader::modules() const {
  Result<std::vector<Module>> modules = impl_->table<Module>(spk::SectionKind::kModules);
  const spk::SectionRecord* const section =
      impl_->file.directory.find(spk::SectionKind::kModuleFiles);
  if (!modules || section == nullptr) {
    return modules;
  }
  if (section->items > modules->size()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: files of more modules than there are"};
  }
  const auto files = impl_->table<spk::ModuleFile>(spk::SectionKind::kModuleFiles);
  const Status taken = files ? spk::take_module_files(*files, *modules) : Status(files.error());
  return taken ? std::move(modules) : Result<std::vector<Module>>(taken.error());
}
Result<std::vector<MetadataEntry>> Reader::metadata() const {
  return impl_->table<MetadataEntry>(spk::SectionKind::kMetadata);
}
Result<std::vector<ControlGroup>> Reader::control_groups() const {
  return impl_->table<ControlGroup>(spk::SectionKind::kControlGroups);
}
Result<std::vector<MergedSource>> Reader::sources() const {
  const Result<std::vector<spk::SourceRow>> rows =
      impl_->table<spk::SourceRow>(spk::SectionKind::kSources);
  return rows ? spk::sources_of(*rows) : Result<std::vector<MergedSource>>(rows.error());
}
Result<Names> Reader::names() const {
  return spk::read_names(impl_->blocks, impl_->file.directory);
}

Result<Branches> Reader::branches() const {
  return spk::read_branches(impl_->blocks, impl_->file.directory);
}

bool Reader::has_intervals() const {
  return impl_->file.directory.find(spk::SectionKind::kIntervals) != nullptr;
}

Status Reader::intervals(const WaitQuery& query,
                         const std::function<bool(std::span<const WaitInterval>)>& visit) const {
  return spk::read_intervals(impl_->blocks, impl_->file.directory, stack_count(), query, visit);
}

Result<std::vector<std::string>> Reader::wait_reasons() const {
  return spk::read_wait_reasons(impl_->blocks, impl_->file.directory);
}

bool Reader::has_event_values() const {
  return impl_->file.directory.find(spk::SectionKind::kEventValues) != nullptr;
}

Result<std::vector<ValueSchema>> Reader::event_value_kinds() const {
  return spk::read_value_kinds(impl_->blocks, impl_->file.directory);
}

Result<std::vector<std::string>> Reader::event_value_texts() const {
  return spk::read_value_texts(impl_->blocks, impl_->file.directory);
}

Status Reader::event_values(const std::function<bool(std::span<const EventValue>)>& visit) const {
  return spk::read_values(impl_->blocks, impl_->file.directory, stack_count(), visit);
}

bool Reader::has_sample_fields() const {
  return impl_->file.directory.find(spk::SectionKind::kSampleFields) != nullptr;
}

Status Reader::sample_fields(const std::function<bool(std::span<const FieldRow>)>& visit) const {
  return spk::read_fields(impl_->blocks, impl_->file.directory, visit);
}

Status Reader::sample_field_block(std::size_t number, std::vector<FieldRow>& rows) const {
  return spk::read_field_block(impl_->blocks, impl_->file.directory, number, rows);
}

Status Reader::label_sets(const std::function<bool(std::span<const LabelSet>)>& visit) const {
  return spk::read_label_sets(impl_->blocks, impl_->file.directory, visit);
}

std::uint64_t Reader::label_set_count() const {
  const spk::SectionRecord* const section =
      impl_->file.directory.find(spk::SectionKind::kLabelSets);
  return section == nullptr ? 0 : section->items;
}

bool Reader::has_branch_stacks() const {
  return !impl_->branch_stacks.empty();
}

Result<std::uint64_t> Reader::branch_stack_count() const {
  const Status loaded = impl_->branch_stacks.load();
  return loaded ? Result<std::uint64_t>(impl_->branch_stacks.stack_count())
                : Result<std::uint64_t>(loaded.error());
}

Status Reader::branch_stack(const FieldRow& fields, std::vector<StackedBranch>& branches) const {
  const Status loaded = impl_->branch_stacks.load();
  return loaded ? impl_->branch_stacks.read(fields, branches) : loaded;
}

Result<std::uint64_t> Reader::resident_bytes() const {
  if (const Status loaded = impl_->load_dag(); !loaded) {
    return loaded.error();
  }
  return impl_->dag.resident_bytes();
}

CacheCounters Reader::cache() const {
  return impl_->dag.cache();
}

Status Reader::verify() const {
  return spk::verify(
      *this, {impl_->blocks, impl_->file, impl_->dag, impl_->branch_stacks, impl_->samples});
}

}  // namespace stackpack
