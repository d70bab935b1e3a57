// The Firefox Profiler's processed profile format, version 75, which later viewers upgrade when
// they load it. Threads share one tree of callstacks, which is what a capture has.
//
// Frames are addresses in libraries; an address where calls were inlined is several frames. They
// have the functions that the capture names. Libraries have debug ids and code ids, so that the
// viewer's symbol servers can name the others; until then such a frame is called 0xoffset.
// Threads are written first, and the shared tables, which they name by number, follow.
// Source: https://github.com/firefox-devtools/profiler/blob/main/docs-developer

#include <limits>

#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/formats/firefox_tables.h"
#include "export/job/export_job.h"
#include "export/lanes/lane_samples.h"
#include "export/output/json_output.h"

namespace stackpack::exporting {

namespace {

constexpr int kFormatVersion = 75;
constexpr int kGeckoVersion = 31;
constexpr unsigned kDigitsOfMs = 6;  // ns of a ms, as a power of ten
constexpr double kNsPerMs = 1e6;
constexpr std::string_view kTimeWeights = "tracing-ms";

class FirefoxEncoder {
 public:
  FirefoxEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        stream_(out),
        json_(stream_),
        locations_(
            job.selection,
            {.identity = query::ImageIdentity::kFile, .style = job.named_style(), .unfold = true}),
        resolver_(job.selection, locations_, tree_),
        lanes_(job.selection, resolver_,
               static_cast<std::size_t>(job.options.memory_limit / LaneSamples::kBytesPerSample)) {}

  Status write() {
    if (const Status status = lanes_.find_lanes(); !status) {
      return status;
    }
    json_.StartObject();
    write_key(json_, "threads");
    json_.StartArray();
    const Status status = lanes_.for_each(
        [this](const Lane& lane, const LaneReplay& replay) { return write_thread(lane, replay); });
    if (!status) {
      return status;
    }
    json_.EndArray();
    FirefoxTables tables(locations_, tree_, json_);
    tables.write();
    write_meta(tables.all_named());
    json_.EndObject();
    job_.report.stacks = distinct_.count();
    return out_.status();
  }

 private:
  [[nodiscard]] double milliseconds(std::uint64_t time_ns) const {
    return static_cast<double>(time_ns - job_.selection.time_range().first_ns) / kNsPerMs;
  }

  // The event whose threads have their plain names, and on which the viewer opens.
  [[nodiscard]] std::uint32_t shown_event() const {
    return lanes_.lanes()[lanes_.first_to_show()].event;
  }

  Status write_thread(const Lane& lane, const LaneReplay& replay) {
    const Result<LaneTimeline> timeline = LaneTimeline::create(replay);
    if (!timeline) {
      return timeline.error();
    }
    interval_ns_ = std::min(interval_ns_, timeline->interval_ns());
    const query::Track& track = job_.selection.tracks()[lane.track];
    std::string name(job_.selection.thread_name(track));
    if (lane.event != shown_event()) {
      name += " [" + job_.selection.choice().name_of(lane.event) + "]";
    }
    json_.StartObject();
    write_member(json_, "processType", "default");
    write_member(json_, "processName", job_.selection.process_name(track));
    write_life(track);
    write_empty_list(json_, "pausedRanges");
    write_member(json_, "event", job_.selection.choice().name_of(lane.event));  // our own key
    write_member(json_, "name", name.empty() ? std::string_view("[unknown]") : name);
    write_member(json_, "isMainThread", track.pid == track.tid);
    write_member(json_, "pid", track.pid == kUnknownId ? "?" : std::to_string(track.pid));
    if (track.tid == kUnknownId) {
      write_member(json_, "tid", "?");
    } else {
      write_member(json_, "tid", std::uint64_t{track.tid});
    }
    const Status status = write_samples(lane, replay);
    write_no_markers();
    json_.EndObject();
    return status ? out_.status() : status;
  }

  void write_life(const query::Track& track) {
    const auto start = [this](std::string_view key, std::uint64_t time_ns) {
      const bool known = time_ns != kUnknownTime && time_ns > job_.selection.time_range().first_ns;
      write_member(json_, key, known ? milliseconds(time_ns) : 0);
    };
    const auto end = [this](std::string_view key, std::uint64_t time_ns) {
      if (time_ns == kUnknownTime || time_ns < job_.selection.time_range().first_ns) {
        write_null_member(json_, key);
      } else {
        write_member(json_, key, milliseconds(time_ns));
      }
    };
    const Process process =
        track.process == query::kNoRow ? Process{} : job_.view().processes[track.process];
    const Thread thread =
        track.thread == query::kNoRow ? Thread{} : job_.view().threads[track.thread];
    start("processStartupTime", process.start_ns);
    end("processShutdownTime", process.end_ns);
    start("registerTime", thread.start_ns);
    end("unregisterTime", thread.end_ns);
  }

  // The viewer knows three units. What has another one counts samples, unless weights were asked
  // for or samples stand for many: empty, they count 1.
  [[nodiscard]] std::string_view weights_of(const Lane& lane) const {
    const query::Measure& measure = job_.selection.choice().measure_of(lane.event);
    if (!measure.weighted) {
      return {};
    }
    const std::string_view unit = core::parse_unit(measure.unit).unit;
    if (unit == "ns" || unit == "bytes") {
      return unit == "ns" ? kTimeWeights : std::string_view("bytes");
    }
    const bool plain =
        unit == "samples" || job_.options.count == CountBy::kWeight || job_.selection.aggregated();
    return plain ? "samples" : std::string_view();
  }

  Status write_samples(const Lane& lane, const LaneReplay& replay) {
    write_key(json_, "samples");
    json_.StartObject();
    const std::string_view weights = weights_of(lane);
    const unsigned decimals =
        core::parse_unit(job_.selection.choice().measure_of(lane.event).unit).decimals;
    write_member(json_, "weightType", weights.empty() ? "samples" : weights);
    write_key(json_, "stack");
    json_.StartArray();
    Status status = replay([this](const LaneSample& sample) {
      job_.report.samples += sample.count;
      core::add_saturating(job_.report.weight, sample.value);
      distinct_.add(sample.node);
      if (sample.node == query::StackTree::kRoot) {
        json_.Null();
      } else {
        json_.Uint(sample.node - 1);
      }
    });
    json_.EndArray();
    write_key(json_, "time");
    json_.StartArray();
    if (status) {
      status =
          replay([this](const LaneSample& sample) { json_.Double(milliseconds(sample.time_ns)); });
    }
    json_.EndArray();
    write_key(json_, "weight");
    if (!weights.empty() && status) {
      json_.StartArray();
      status = replay([&](const LaneSample& sample) {
        if (weights == kTimeWeights) {
          write_number(json_, core::decimal_text(sample.value, decimals + kDigitsOfMs));
        } else {
          write_number(json_, core::decimal_text(sample.value, decimals));
        }
      });
      json_.EndArray();
    } else {
      json_.Null();
    }
    write_member(json_, "length", lane.samples);
    json_.EndObject();
    return status;
  }

  void write_no_markers() {
    write_key(json_, "markers");
    json_.StartObject();
    for (const std::string_view column :
         {"data", "name", "startTime", "endTime", "phase", "category"}) {
      write_empty_list(json_, column);
    }
    write_member(json_, "length", std::uint64_t{0});
    json_.EndObject();
  }

  void write_meta(bool all_named) {
    write_key(json_, "meta");
    json_.StartObject();
    write_member(json_, "interval", static_cast<double>(interval_ns_) / kNsPerMs);
    const query::TimeRange range = job_.selection.time_range();
    write_member(
        json_, "startTime",
        static_cast<double>(job_.selection.wall_ns(range.first_ns).value_or(0)) / kNsPerMs);
    write_member(json_, "processType", std::uint64_t{0});
    write_member(json_, "product", "stackpack");
    write_member(json_, "importedFrom", "stackpack");
    write_member(json_, "stackwalk", std::uint64_t{1});
    write_member(json_, "version", std::uint64_t{kGeckoVersion});
    write_member(json_, "preprocessedProfileVersion", std::uint64_t{kFormatVersion});
    write_member(json_, "oscpu", job_.view().fact("os.name"));
    write_member(json_, "CPUName", job_.view().fact("cpu.description"));
    write_member(json_, "symbolicated", all_named);
    write_member(json_, "usesOnlyOneStackType", true);
    write_member(json_, "sourceCodeIsNotOnSearchfox", true);
    write_empty_list(json_, "markerSchema");
    write_key(json_, "initialSelectedThreads");
    json_.StartArray();
    json_.Uint64(lanes_.first_to_show());
    json_.EndArray();
    write_categories();
    json_.EndObject();
  }

  void write_categories() {
    struct Row {
      std::string_view name;
      std::string_view color;
    };
    write_key(json_, "categories");
    json_.StartArray();
    for (const Row& row : {Row{"Other", "grey"}, Row{"User", "yellow"}, Row{"Kernel", "orange"},
                           Row{"Managed", "magenta"}}) {
      json_.StartObject();
      write_member(json_, "name", row.name);
      write_member(json_, "color", row.color);
      write_key(json_, "subcategories");
      json_.StartArray();
      write_text(json_, "Other");
      json_.EndArray();
      json_.EndObject();
    }
    json_.EndArray();
  }

  ExportJob& job_;
  ExportOutput& out_;
  JsonStream stream_;
  JsonWriter json_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  LaneSamples lanes_;
  DistinctCounter distinct_;
  std::uint64_t interval_ns_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

Status write_firefox(ExportJob& job, ExportOutput& out) {
  if (!job.view().has_samples) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "export: the file keeps counts and no times, which firefox needs"};
  }
  return FirefoxEncoder(job, out).write();
}

}  // namespace stackpack::exporting
