#include "app/analysis/gc_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "app/analysis/event_value_table.h"
#include "core/sort_rows.h"
#include "query/selection/pid_sources.h"
#include "stackpack/sources.h"

namespace stackpack::app {

using capture::ValueKind;

namespace {

// A process while its values come.
struct OpenProcess {
  GcProcess process;
  std::uint64_t suspended_ns = kNoValue;  // since when it stands still, or none
  bool for_collection = false;
  std::size_t first_of_pause = 0;  // collections that began since then
};

bool is_for_collection(std::uint64_t suspend_reason) {
  constexpr std::uint64_t kForGc = 1;
  constexpr std::uint64_t kForGcPreparation = 6;
  return suspend_reason == kForGc || suspend_reason == kForGcPreparation;
}

// How long each capture of a file is: from its first sample or value to its last.
class CaptureSpans {
 public:
  // Errors: those of the reader.
  static Result<CaptureSpans> load(const Reader& reader) {
    Result<std::vector<MergedSource>> sources = reader.sources();
    if (!sources) {
      return sources.error();
    }
    CaptureSpans spans(std::move(*sources));
    const Status read =
        spans.sources_->empty() ? spans.add_range(reader) : spans.add_samples(reader);
    return read ? Result<CaptureSpans>(std::move(spans)) : Result<CaptureSpans>(read.error());
  }

  void add(std::uint32_t pid, std::uint64_t time_ns) {
    Span& span = spans_[source_of(pid)];
    span.from_ns = std::min(span.from_ns, time_ns);
    span.to_ns = std::max(span.to_ns, time_ns);
  }

  [[nodiscard]] std::uint64_t of(std::uint32_t pid) const {
    const auto found = spans_.find(source_of(pid));
    return found == spans_.end() ? 0 : found->second.to_ns - found->second.from_ns;
  }

 private:
  struct Span {
    std::uint64_t from_ns = kNoValue;
    std::uint64_t to_ns = 0;
  };

  explicit CaptureSpans(std::vector<MergedSource> sources)
      : sources_(std::make_unique<const std::vector<MergedSource>>(std::move(sources))),
        origins_(*sources_, !sources_->empty()) {}

  [[nodiscard]] std::uint32_t source_of(std::uint32_t pid) const { return origins_.of(pid).source; }

  Status add_range(const Reader& reader) {
    const auto range = reader.time_range();
    if (range && *range) {
      add(kUnknownId, (*range)->from_ns);
      add(kUnknownId, (*range)->to_ns);
    }
    return range ? Status() : Status(range.error());
  }

  Status add_samples(const Reader& reader) {
    SampleQuery query;
    query.any_order = true;
    return !reader.has_samples()
               ? Status()
               : reader.samples(query, [this](std::span<const StoredSample> samples) {
                   for (const StoredSample& sample : samples) {
                     add(sample.pid, sample.time_ns);
                   }
                   return true;
                 });
  }

  std::unique_ptr<const std::vector<MergedSource>> sources_;
  query::PidSources origins_;
  std::map<std::uint32_t, Span> spans_;
};

class GcCounting {
 public:
  GcCounting(EventValueTable& values, GcReport& report) : values_(values), report_(report) {}

  void take(const EventValueTable::Row& row) {
    const EventValue& value = *row.value;
    OpenProcess* open = nullptr;
    switch (row.kind) {
      case ValueKind::kGcStart:
        open = &process_of(value);
        begin_collection(*open, value, row);
        break;
      case ValueKind::kGcEnd:
        open = &process_of(value);
        end_collection(*open, value, row);
        break;
      case ValueKind::kSuspendStart:
        open = &process_of(value);
        open->suspended_ns = value.time_ns;
        open->for_collection = is_for_collection(row.fields[0]);
        open->first_of_pause = open->process.collections.size();
        break;
      case ValueKind::kRestartEnd:
        open = &process_of(value);
        end_pause(*open, value);
        break;
      case ValueKind::kGcHeap:
        open = &process_of(value);
        heap(*open, row);
        break;
      case ValueKind::kAllocation:
        open = &process_of(value);
        allocation(*open, value, row);
        break;
      default:
        return;
    }
    open->process.to_ns = value.time_ns;
  }

  void finish(std::size_t limit, const CaptureSpans& spans) {
    for (auto& [pid, open] : processes_) {
      open.process.recorded_ns = spans.of(pid);
      report_.processes.push_back(std::move(open.process));
    }
    core::sort_rows(report_.processes, [](const GcProcess& a, const GcProcess& b) {
      return std::pair(a.pause_ns, a.allocated_bytes) > std::pair(b.pause_ns, b.allocated_bytes);
    });
    const auto by_bytes = [](const ValueSum& sum) { return sum.bytes; };
    report_.types = types_.largest(limit, by_bytes);
    report_.functions = functions_.largest(limit, by_bytes);
    report_.all_types = types_.size();
    report_.all_functions = functions_.size();
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  OpenProcess& process_of(const EventValue& value) {
    const auto [known, fresh] = processes_.try_emplace(value.pid);
    if (fresh) {
      known->second.process.pid = value.pid;
      known->second.process.name = values_.process(value.pid, value.time_ns);
      known->second.process.from_ns = value.time_ns;
    }
    return known->second;
  }

  // Recorders may write an event in several versions, one after the other.
  static void begin_collection(OpenProcess& open, const EventValue& value,
                               const EventValueTable::Row& row) {
    std::vector<Collection>& collections = open.process.collections;
    if (!collections.empty() && collections.back().number == row.fields[0] &&
        collections.back().to_ns == kNoValue) {
      return;
    }
    Collection collection;
    collection.number = row.fields[0];
    collection.generation = row.fields[1];
    collection.reason = row.fields[2];
    collection.type = row.fields[3];
    collection.from_ns = value.time_ns;
    collections.push_back(collection);
  }

  static void end_collection(OpenProcess& open, const EventValue& value,
                             const EventValueTable::Row& row) {
    std::vector<Collection>& collections = open.process.collections;
    const auto begun = std::find_if(
        collections.rbegin(), collections.rend(),
        [&row](const Collection& collection) { return collection.number == row.fields[0]; });
    if (begun != collections.rend() && begun->to_ns == kNoValue) {
      begun->to_ns = value.time_ns;
    }
  }

  static void end_pause(OpenProcess& open, const EventValue& value) {
    const std::uint64_t from_ns = std::exchange(open.suspended_ns, kNoValue);
    if (from_ns == kNoValue) {
      return;  // began before the recording
    }
    GcProcess& process = open.process;
    const std::uint64_t ns = value.time_ns - from_ns;
    if (!open.for_collection) {
      ++process.other_pauses;
      process.other_pause_ns += ns;
      return;
    }
    ++process.pauses;
    process.pause_ns += ns;
    process.longest_ns = std::max(process.longest_ns, ns);
    if (open.first_of_pause < process.collections.size()) {
      process.collections[open.first_of_pause].pause_ns += ns;
      return;
    }
    // A collection in the background stops the program more than once.
    for (auto it = process.collections.rbegin(); it != process.collections.rend(); ++it) {
      if (it->type == 1 && (it->to_ns == kNoValue || it->to_ns >= from_ns)) {
        it->pause_ns += ns;
        return;
      }
    }
  }

  static void heap(OpenProcess& open, const EventValueTable::Row& row) {
    const auto bytes = [&row](std::size_t field) {
      return row.fields[field] == kNoValue ? 0 : row.fields[field];
    };
    HeapSizes sizes;
    for (std::size_t i = 0; i < std::size(sizes.generations); ++i) {
      sizes.generations[i] = bytes(i);
    }
    sizes.large = bytes(3);
    sizes.pinned = bytes(4);
    sizes.promoted = bytes(5);
    open.process.heap = sizes;
    open.process.largest_heap = std::max(open.process.largest_heap, sizes.total());
  }

  void allocation(OpenProcess& open, const EventValue& value, const EventValueTable::Row& row) {
    const std::uint64_t bytes = row.fields[0] == kNoValue ? 0 : row.fields[0];
    open.process.allocated_bytes += bytes;
    ++open.process.allocations;
    const std::string& type = values_.text(row.fields[2]);
    add(types_.of(type.empty() ? "(unknown type)" : type), bytes);
    const Result<std::string> function = values_.function(value);
    if (!function) {
      status_ = function.error();
      return;
    }
    add(functions_.of(function->empty() ? "(no callstack)" : *function), bytes);
  }

  static void add(ValueSum& sum, std::uint64_t bytes) {
    ++sum.count;
    sum.bytes += bytes;
  }

  EventValueTable& values_;
  GcReport& report_;
  std::map<std::uint32_t, OpenProcess> processes_;
  ValueSums types_;
  ValueSums functions_;
  Status status_;
};

}  // namespace

Result<GcReport> gc_report(const Reader& reader, std::size_t limit) {
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  Result<CaptureSpans> spans = CaptureSpans::load(reader);
  if (!spans) {
    return spans.error();
  }
  GcReport report;
  report.from_ns = kNoValue;
  GcCounting counting(*values, report);
  const Status read = values->visit([&](const EventValueTable::Row& row) {
    report.from_ns = std::min(report.from_ns, row.value->time_ns);
    report.to_ns = std::max(report.to_ns, row.value->time_ns);
    spans->add(row.value->pid, row.value->time_ns);
    counting.take(row);
  });
  if (!read || !counting.status()) {
    return read ? counting.status().error() : read.error();
  }
  const auto range = reader.time_range();
  if (range && *range) {
    report.from_ns = std::min(report.from_ns, (*range)->from_ns);
    report.to_ns = std::max(report.to_ns, (*range)->to_ns);
  }
  report.from_ns = std::min(report.from_ns, report.to_ns);
  counting.finish(limit, *spans);
  return report;
}

std::string_view gc_reason_name(std::uint64_t reason) {
  // Source: the runtime's documentation of GCStart events.
  constexpr std::array<std::string_view, 14> kNames = {"small objects",
                                                       "induced",
                                                       "low memory",
                                                       "empty",
                                                       "large objects",
                                                       "no space for small objects",
                                                       "no space for large objects",
                                                       "induced, not forced",
                                                       "internal",
                                                       "induced, low memory",
                                                       "induced, compacting",
                                                       "low memory of the host",
                                                       "full, blocking",
                                                       "low memory of the host, blocking"};
  return reason < kNames.size() ? kNames[static_cast<std::size_t>(reason)] : "-";
}

}  // namespace stackpack::app
