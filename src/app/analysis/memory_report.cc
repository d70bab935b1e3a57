#include "app/analysis/memory_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "app/analysis/data_symbols.h"
#include "app/analysis/event_value_table.h"
#include "core/sort_rows.h"
#include "query/data_source.h"
#include "query/field_cursor.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

namespace {

constexpr std::uint64_t kLineBytes = 64;
constexpr std::size_t kMostHeld = std::size_t{1} << 21;  // places, threads and processors of them
constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63;
constexpr std::uint32_t kEveryProcess = kUnknownId;

void add_access(MemorySum& sum, const FieldRow& row) {
  const query::DataSource source(row.value(SampleField::kDataSource));
  const std::uint64_t latency = row.value(SampleField::kWeight);
  ++sum.samples;
  sum.loads += source.is_load() ? 1U : 0U;
  sum.stores += source.is_store() ? 1U : 0U;
  sum.latency += latency;
  sum.most_latency = std::max(sum.most_latency, latency);
  if (source.is_load() && source.hits_modified()) {
    ++(source.is_remote() ? sum.remote_shared : sum.local_shared);
  }
}

// What rows are ordered by; those with more come first.
auto rank_of(const MemorySum& sum, MemoryOrder order) {
  switch (order) {
    case MemoryOrder::kSamples:
      return std::tuple(sum.samples, sum.latency, sum.shared());
    case MemoryOrder::kShared:
      return std::tuple(sum.shared(), sum.samples, sum.latency);
    case MemoryOrder::kLatency:
      break;
  }
  return std::tuple(sum.latency, sum.samples, sum.shared());
}

// Puts rows in order; equal ones stay in theirs. Keeps `limit` of them.
template <typename Row>
void take_first(std::vector<Row>& rows, MemoryOrder order, std::size_t limit) {
  core::sort_rows(rows, [order](const Row& a, const Row& b) {
    return rank_of(a.sum, order) > rank_of(b.sum, order);
  });
  if (limit != 0 && rows.size() > limit) {
    rows.resize(limit);
  }
}

// The function at the leaf of callstacks.
class LeafNames {
 public:
  LeafNames(const Reader& reader, const Symbols& symbols) : reader_(reader), symbols_(symbols) {}

  /// A number for its name. Errors: those of the reader.
  Result<std::uint32_t> find(const StoredSample& sample) {
    const std::uint64_t key = std::uint64_t{sample.pid} << 32 | sample.stack;
    if (const auto known = by_stack_.find(key); known != by_stack_.end()) {
      return known->second;
    }
    std::string name = "[unknown]";
    if (sample.stack != kNoStack) {
      if (const Status read = reader_.callstack(sample.stack, frames_); !read) {
        return read.error();
      }
      if (!frames_.empty()) {
        name = name_of(
            symbols_.locate(frames_.front(), sample.pid, sample.time_ns, AddressUse::kExact));
      }
    }
    const auto [at, fresh] =
        numbers_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
    if (fresh) {
      names_.push_back(&at->first);
    }
    by_stack_.emplace(key, at->second);
    return at->second;
  }

  [[nodiscard]] const std::string& name(std::uint32_t number) const { return *names_[number]; }

 private:
  static std::string name_of(const CodeLocation& location) {
    if (!location.name.empty()) {
      return std::string(location.name);
    }
    const std::string path = location.module == nullptr ? "unknown" : location.module->path;
    const std::string file = path.substr(path.find_last_of("/\\") + 1);
    return file.starts_with('[') ? file : "[" + file + "]";
  }

  const Reader& reader_;
  const Symbols& symbols_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_stack_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> names_;
  std::vector<Frame> frames_;
};

// A line; its addresses ascend, those of memory come first.
struct LineKey {
  bool virtual_address = false;
  std::uint64_t address = 0;
  std::uint32_t pid = kEveryProcess;

  friend bool operator<(const LineKey& a, const LineKey& b) {
    return std::tie(a.virtual_address, a.address, a.pid) <
           std::tie(b.virtual_address, b.address, b.pid);
  }
};

struct PlaceSums {
  MemorySum sum;
  std::set<std::uint32_t> threads;
  std::set<std::uint32_t> cpus;

  // `held`: what all places hold. Without room for more, what is known is counted on.
  void add(const StoredSample& sample, const FieldRow& row, std::size_t& held) {
    add_access(sum, row);
    if (held < kMostHeld) {
      held += threads.insert(sample.tid).second ? 1U : 0U;
      held += cpus.insert(sample.cpu).second ? 1U : 0U;
    }
  }
};

struct LineSums {
  PlaceSums all;
  std::uint64_t time_ns = 0;                                            // of a sample
  std::map<std::pair<std::uint32_t, std::uint32_t>, PlaceSums> places;  // by offset, function
};

class MemoryCounter {
 public:
  // `data`: null: variables are not asked for.
  MemoryCounter(const Reader& reader, const Symbols& symbols, DataSymbols* data)
      : names_(reader, symbols), data_(data) {}

  Status add(const StoredSample& sample, const FieldRow& row) {
    const Result<std::uint32_t> function = names_.find(sample);
    if (!function) {
      return function.error();
    }
    add_access(report_.all, row);
    add_access(sources_[row.value(SampleField::kDataSource)], row);
    add_access(functions_[*function], row);
    if (sample.stack != kNoStack) {
      MemoryUser& user = stacks_[sample.stack];
      user.stack = sample.stack;
      user.function = user.sum.samples == 0 ? names_.name(*function) : user.function;
      add_access(user.sum, row);
    }
    add_line(sample, row, *function);
    add_variable(sample, row);
    return {};
  }

  MemoryReport finish(const EventValueTable& processes, MemoryOrder order, std::size_t limit);

 private:
  void add_line(const StoredSample& sample, const FieldRow& row, std::uint32_t function);
  void add_variable(const StoredSample& sample, const FieldRow& row);
  [[nodiscard]] CacheLine line_of(const LineKey& key, const LineSums& sums,
                                  const EventValueTable& processes) const;

  LeafNames names_;
  DataSymbols* data_;
  MemoryReport report_;
  std::map<std::pair<std::string, std::string>, MemorySum> variables_;  // by name, image
  std::unordered_map<std::uint64_t, MemorySum> sources_;                // by number
  std::unordered_map<std::uint32_t, MemorySum> functions_;              // by number of names_
  std::map<StackId, MemoryUser> stacks_;
  std::map<LineKey, LineSums> lines_;
  std::size_t held_ = 0;
};

void MemoryCounter::add_line(const StoredSample& sample, const FieldRow& row,
                             std::uint32_t function) {
  const std::uint64_t physical = row.value(SampleField::kPhysicalAddress);
  const std::uint64_t address = physical != 0 ? physical : row.value(SampleField::kAddress);
  if (address == 0) {
    return;
  }
  const bool of_process = physical == 0 && address < kFirstKernelAddress;
  const LineKey key{physical == 0, address - address % kLineBytes,
                    of_process ? sample.pid : kEveryProcess};
  const std::pair place(static_cast<std::uint32_t>(address % kLineBytes), function);
  auto at = lines_.find(key);
  const bool is_new = at == lines_.end() || !at->second.places.contains(place);
  if (is_new && held_ >= kMostHeld) {
    ++report_.untracked;
    return;
  }
  held_ += is_new ? 1U : 0U;
  at = at == lines_.end() ? lines_.try_emplace(key).first : at;
  at->second.time_ns = sample.time_ns;
  at->second.all.add(sample, row, held_);
  at->second.places[place].add(sample, row, held_);
}

void MemoryCounter::add_variable(const StoredSample& sample, const FieldRow& row) {
  const std::uint64_t address = row.value(SampleField::kAddress);
  if (data_ == nullptr || address == 0) {
    return;
  }
  const std::uint32_t pid = address < kFirstKernelAddress ? sample.pid : kKernelPid;
  const std::optional<DataSymbol> symbol = data_->find(pid, sample.time_ns, address);
  add_access(
      symbol ? variables_[{symbol->name, data_->path_of(*symbol)}] : variables_[{"[unknown]", ""}],
      row);
}

CacheLine MemoryCounter::line_of(const LineKey& key, const LineSums& sums,
                                 const EventValueTable& processes) const {
  CacheLine line;
  line.address = key.address;
  line.physical = !key.virtual_address;
  line.process =
      key.pid == kEveryProcess ? std::string() : processes.process(key.pid, sums.time_ns);
  line.threads = sums.all.threads.size();
  line.cpus = sums.all.cpus.size();
  line.sum = sums.all.sum;
  for (const auto& [place, use] : sums.places) {
    line.uses.push_back(
        {place.first, names_.name(place.second), use.threads.size(), use.cpus.size(), use.sum});
  }
  // Numbers of functions say in which order they came.
  core::sort_rows(line.uses, [](const LineUse& a, const LineUse& b) {
    return std::tie(b.sum.samples, a.offset, a.function) <
           std::tie(a.sum.samples, b.offset, b.function);
  });
  return line;
}

MemoryReport MemoryCounter::finish(const EventValueTable& processes, MemoryOrder order,
                                   std::size_t limit) {
  std::map<std::pair<std::string, std::string>, MemorySum> sources;
  for (const auto& [number, sum] : sources_) {
    const query::DataSource source(number);
    MemorySum& whole = sources[{std::string(source.operation()), source.level()}];
    whole.samples += sum.samples;
    whole.loads += sum.loads;
    whole.stores += sum.stores;
    whole.latency += sum.latency;
    whole.most_latency = std::max(whole.most_latency, sum.most_latency);
    whole.local_shared += sum.local_shared;
    whole.remote_shared += sum.remote_shared;
  }
  for (const auto& [names, sum] : sources) {
    report_.sources.push_back({names.first, names.second, sum});
  }
  take_first(report_.sources, MemoryOrder::kLatency, 0);
  std::map<std::string, MemorySum> functions;
  for (const auto& [number, sum] : functions_) {
    functions.emplace(names_.name(number), sum);
  }
  for (const auto& [name, sum] : functions) {
    report_.functions.push_back({name, kNoStack, sum});
  }
  for (const auto& [stack, user] : stacks_) {
    report_.stacks.push_back(user);
  }
  for (const auto& [key, sums] : lines_) {
    report_.lines.push_back(line_of(key, sums, processes));
  }
  for (const auto& [names, sum] : variables_) {
    report_.variables.push_back({names.first, names.second, sum});
  }
  report_.all_variables = report_.variables.size();
  take_first(report_.variables, order, limit);
  report_.all_functions = report_.functions.size();
  report_.all_stacks = report_.stacks.size();
  report_.all_lines = report_.lines.size();
  take_first(report_.functions, order, limit);
  take_first(report_.stacks, order, limit);
  take_first(report_.lines, order, limit);
  return std::move(report_);
}

Status count_accesses(const Reader& reader, query::SampleSelection& selection,
                      MemoryCounter& counter) {
  query::FieldCursor cursor(reader);
  return selection.for_each([&](std::span<const query::SelectedSample> samples) -> Status {
    for (const query::SelectedSample& sample : samples) {
      const Result<const FieldRow*> row = cursor.find(sample.number);
      if (!row) {
        return row.error();
      }
      if (*row != nullptr && is_access(**row)) {
        if (const Status added = counter.add(sample, **row); !added) {
          return added;
        }
      }
    }
    return {};
  });
}

}  // namespace

bool is_access(const FieldRow& row) {
  return row.has(SampleField::kDataSource) || row.has(SampleField::kWeight) ||
         row.value(SampleField::kAddress) != 0;
}

std::string access_text(std::uint64_t data_source) {
  return query::DataSource(data_source).text();
}

Result<MemoryReport> memory_report(const Reader& reader, const SampleFilter& filter,
                                   MemoryOrder order, std::size_t limit,
                                   const symbolize::SymbolPlaces* places) {
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  const Result<EventValueTable> processes = EventValueTable::load(reader);
  if (!processes) {
    return processes.error();
  }
  if (!reader.has_sample_fields()) {
    return MemoryReport();
  }
  const Result<query::CaptureView> view = query::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions options;
  options.filter = filter;
  options.all_events = filter.events.empty();
  options.count = CountBy::kSamples;
  const auto selection =
      query::SampleSelection::create(*view, options, {.numbers = true, .event_key = {}});
  if (!selection) {
    return selection.error();
  }
  std::optional<DataSymbols> data;
  if (places != nullptr) {
    data.emplace((*symbols)->modules(), *places);
  }
  MemoryCounter counter(reader, **symbols, data ? &*data : nullptr);
  const Status read = count_accesses(reader, **selection, counter);
  return read ? Result<MemoryReport>(counter.finish(*processes, order, limit))
              : Result<MemoryReport>(read.error());
}

}  // namespace stackpack::app
