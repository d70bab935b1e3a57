// The Firefox Profiler's processed profile format, version 60: the first one in which threads share
// one tree of callstacks, which is what a capture has. Later viewers upgrade it when they load it.
//
// Frames are addresses in libraries; an address where calls were inlined is several frames. They
// have the functions that the capture names. Libraries have debug ids and code ids, so that the
// viewer's symbol servers can name the others; until then such a frame is called 0xoffset.
// Threads are written first, and the shared tables, which they name by number, follow.
// Source: https://github.com/firefox-devtools/profiler/blob/main/docs-developer

#include <limits>
#include <map>

#include "core/string_table.h"
#include "export/export_job.h"
#include "export/naming/build_id_text.h"
#include "export/output/json_output.h"
#include "export/selection/file_name.h"
#include "export/selection/lane_samples.h"
#include "export/selection/lane_timeline.h"
#include "export/selection/saturating.h"

namespace stackpack::exporting {

namespace {

constexpr int kFormatVersion = 60;
constexpr int kGeckoVersion = 31;
constexpr int kResourceOfLibrary = 1;
constexpr double kNsPerMs = 1e6;
constexpr std::uint32_t kNoSource = ~std::uint32_t{0};

enum Category : unsigned { kOther = 0, kUser = 1, kKernel = 2, kManaged = 3 };

unsigned category_of(FrameMode mode) {
  switch (mode) {
    case FrameMode::kKernel:
    case FrameMode::kGuestKernel:
    case FrameMode::kHypervisor:
      return kKernel;
    case FrameMode::kUser:
    case FrameMode::kGuestUser:
      return kUser;
    default:
      return kOther;
  }
}

class FirefoxEncoder {
 public:
  FirefoxEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        stream_(out),
        json_(stream_),
        locations_(job.selection,
                   {.identity = ImageIdentity::kFile, .style = job.named_style(), .unfold = true}),
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
    number_libraries();
    number_functions();
    write_libraries();
    write_shared();
    write_meta();
    json_.EndObject();
    job_.report.stacks = distinct_.count();
    return out_.status();
  }

 private:
  [[nodiscard]] double milliseconds(std::uint64_t time_ns) const {
    return static_cast<double>(time_ns - job_.selection.time_range().first_ns) / kNsPerMs;
  }

  void member(std::string_view key, std::string_view value) {
    write_key(json_, key);
    write_text(json_, value);
  }
  void member(std::string_view key, std::uint64_t value) {
    write_key(json_, key);
    json_.Uint64(value);
  }
  void member_null(std::string_view key) {
    write_key(json_, key);
    json_.Null();
  }
  void member_ms(std::string_view key, double value) {
    write_key(json_, key);
    json_.Double(value);
  }
  void member_bool(std::string_view key, bool value) {
    write_key(json_, key);
    json_.Bool(value);
  }
  void empty_list(std::string_view key) {
    write_key(json_, key);
    json_.StartArray();
    json_.EndArray();
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
    const Track& track = job_.selection.tracks()[lane.track];
    std::string name(job_.selection.thread_name(track));
    if (lane.event != shown_event()) {
      name += " [" + job_.view().events[lane.event].name + "]";
    }
    json_.StartObject();
    member("processType", "default");
    member("processName", job_.selection.process_name(track));
    write_life(track);
    empty_list("pausedRanges");
    member("name", name.empty() ? std::string_view("[unknown]") : name);
    member_bool("isMainThread", track.pid == track.tid);
    member("pid", track.pid == kUnknownId ? "?" : std::to_string(track.pid));
    if (track.tid == kUnknownId) {
      member("tid", "?");
    } else {
      member("tid", track.tid);
    }
    const Status status = write_samples(lane, replay);
    write_no_markers();
    json_.EndObject();
    return status ? out_.status() : status;
  }

  void write_life(const Track& track) {
    const auto start = [this](std::string_view key, std::uint64_t time_ns) {
      const bool known = time_ns != kUnknownTime && time_ns > job_.selection.time_range().first_ns;
      member_ms(key, known ? milliseconds(time_ns) : 0);
    };
    const auto end = [this](std::string_view key, std::uint64_t time_ns) {
      if (time_ns == kUnknownTime || time_ns < job_.selection.time_range().first_ns) {
        member_null(key);
      } else {
        member_ms(key, milliseconds(time_ns));
      }
    };
    const Process process =
        track.process == kNoRow ? Process{} : job_.view().processes[track.process];
    const Thread thread = track.thread == kNoRow ? Thread{} : job_.view().threads[track.thread];
    start("processStartupTime", process.start_ns);
    end("processShutdownTime", process.end_ns);
    start("registerTime", thread.start_ns);
    end("unregisterTime", thread.end_ns);
  }

  Status write_samples(const Lane& lane, const LaneReplay& replay) {
    write_key(json_, "samples");
    json_.StartObject();
    member("weightType", "samples");
    write_key(json_, "stack");
    json_.StartArray();
    Status status = replay([this](const LaneSample& sample) {
      job_.report.samples += sample.count;
      job_.report.weight = saturating_sum(job_.report.weight, sample.value);
      distinct_.add(sample.node);
      if (sample.node == StackTree::kRoot) {
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
    if (job_.selection.weighted() && status) {
      json_.StartArray();
      status = replay([this](const LaneSample& sample) { json_.Uint64(sample.value); });
      json_.EndArray();
    } else {
      json_.Null();
    }
    member("length", lane.samples);
    json_.EndObject();
    return status;
  }

  void write_no_markers() {
    write_key(json_, "markers");
    json_.StartObject();
    for (const std::string_view column :
         {"data", "name", "startTime", "endTime", "phase", "category"}) {
      empty_list(column);
    }
    member("length", std::uint64_t{0});
    json_.EndObject();
  }

  // Only libraries with a frame are listed.
  void number_libraries() {
    library_of_image_.assign(locations_.image_count(), kNoImage);
    for (std::uint32_t i = 0; i < locations_.size(); ++i) {
      const std::uint32_t image = locations_.location(i).image;
      if (image != kNoImage && library_of_image_[image] == kNoImage) {
        library_of_image_[image] = static_cast<std::uint32_t>(libraries_.size());
        libraries_.push_back(image);
      }
    }
  }

  [[nodiscard]] std::uint32_t library_of(std::uint32_t location) const {
    const std::uint32_t image = locations_.location(location).image;
    return image == kNoImage ? kNoImage : library_of_image_[image];
  }

  void write_libraries() {
    write_key(json_, "libs");
    json_.StartArray();
    for (const std::uint32_t image : libraries_) {
      const Module& module = locations_.module_of_image(image);
      const std::string_view name = file_name_of(module);
      const std::string_view debug_name =
          module.debug_name.empty() ? name : std::string_view(module.debug_name);
      json_.StartObject();
      member("arch", "");
      member("name", name);
      member("path", module.path);
      member("debugName", debug_name);
      member("debugPath", module.debug_name.empty() ? module.path : module.debug_name);
      member("breakpadId", breakpad_id(module));
      if (module.build_id_kind == BuildIdKind::kGnu) {
        member("codeId", hex_of(module.build_id));
      } else {
        member_null("codeId");
      }
      json_.EndObject();
    }
    json_.EndArray();
  }

  // A column of a table: one value for each of `rows`.
  template <typename Value>
  void column(std::string_view key, std::uint64_t rows, Value value) {
    write_key(json_, key);
    json_.StartArray();
    for (std::uint32_t row = 0; row < rows; ++row) {
      value(row);
    }
    json_.EndArray();
  }

  void write_shared() {
    write_key(json_, "shared");
    json_.StartObject();
    write_stack_table();
    write_frame_table();
    write_function_table();
    write_resource_table();
    write_empty_table("nativeSymbols", {"libIndex", "address", "name", "functionSize"});
    write_sources();
    write_strings();
    json_.EndObject();
  }

  void write_empty_table(std::string_view key, std::initializer_list<std::string_view> columns) {
    write_key(json_, key);
    json_.StartObject();
    for (const std::string_view name : columns) {
      empty_list(name);
    }
    member("length", std::uint64_t{0});
    json_.EndObject();
  }

  void write_stack_table() {
    const std::uint64_t rows = tree_.node_count() - 1;  // without the root
    write_key(json_, "stackTable");
    json_.StartObject();
    column("frame", rows, [this](std::uint32_t row) { json_.Uint(tree_.location(row + 1)); });
    column("prefix", rows, [this](std::uint32_t row) {
      const std::uint32_t parent = tree_.parent(row + 1);
      if (parent == StackTree::kRoot) {
        json_.Null();
      } else {
        json_.Uint(parent - 1);
      }
    });
    member("length", rows);
    json_.EndObject();
  }

  void write_frame_table() {
    const std::uint64_t rows = locations_.size();
    const auto zero = [this](std::uint32_t) { json_.Uint(0); };
    const auto null = [this](std::uint32_t) { json_.Null(); };
    write_key(json_, "frameTable");
    json_.StartObject();
    column("address", rows, [this](std::uint32_t row) {
      if (library_of(row) == kNoImage) {
        json_.Int(-1);
      } else {
        json_.Uint64(locations_.location(row).address);
      }
    });
    column("inlineDepth", rows,
           [this](std::uint32_t row) { json_.Uint(locations_.location(row).inline_depth); });
    column("category", rows, [this](std::uint32_t row) { json_.Uint(category_of_frame(row)); });
    column("subcategory", rows, zero);
    column("func", rows, [this](std::uint32_t row) { json_.Uint(function_of_[row]); });
    column("nativeSymbol", rows, null);
    column("innerWindowID", rows, zero);
    column("line", rows, [this](std::uint32_t row) {
      const std::uint32_t code = locations_.location(row).code;
      number_or_null(code == kNoCode ? 0 : locations_.places()[code].line);
    });
    column("column", rows, null);
    member("length", rows);
    json_.EndObject();
  }

  void number_or_null(std::uint32_t value) {
    if (value == 0) {
      json_.Null();
    } else {
      json_.Uint(value);
    }
  }

  // The function that a location is in; null without a name.
  [[nodiscard]] const FunctionName* function_at(std::uint32_t location) const {
    const std::uint32_t code = locations_.location(location).code;
    return code == kNoCode ? nullptr : &locations_.functions()[locations_.places()[code].function];
  }

  [[nodiscard]] unsigned category_of_frame(std::uint32_t location) const {
    const FunctionName* const function = function_at(location);
    const unsigned category = category_of(locations_.location(location).mode);
    return function != nullptr && function->made_at_run_time && category != kKernel ? kManaged
                                                                                    : category;
  }

  // A function for each name in a library; one for each frame without a name: only the symbols,
  // which come later, show which of those are of one function.
  void number_functions() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    std::string text;
    for (std::uint32_t row = 0; row < locations_.size(); ++row) {
      const std::uint32_t code = locations_.location(row).code;
      const auto next = static_cast<std::uint32_t>(functions_.size());
      std::uint32_t number = next;
      if (code != kNoCode) {
        number = known.try_emplace({locations_.places()[code].function, library_of(row)}, next)
                     .first->second;
      }
      function_of_.push_back(number);
      if (number != next) {
        continue;
      }
      const FunctionName* const function = function_at(row);
      text.clear();
      locations_.append_address(row, text);  // the viewer puts the library in front
      const std::uint32_t file = function == nullptr ? 0 : function->file;
      functions_.push_back({strings_.intern(text), library_of(row),
                            file == 0 ? kNoSource : sources_.intern(locations_.text(file)),
                            function == nullptr ? 0 : function->start_line});
    }
  }

  void write_function_table() {
    const std::uint64_t rows = functions_.size();
    const auto no = [this](std::uint32_t) { json_.Bool(false); };
    write_key(json_, "funcTable");
    json_.StartObject();
    column("name", rows, [this](std::uint32_t row) { json_.Uint(functions_[row].name); });
    column("isJS", rows, no);
    column("relevantForJS", rows, no);
    column("resource", rows, [this](std::uint32_t row) {
      const std::uint32_t library = functions_[row].library;
      json_.Int64(library == kNoImage ? -1 : std::int64_t{library});
    });
    column("source", rows, [this](std::uint32_t row) {
      if (functions_[row].source == kNoSource) {
        json_.Null();
      } else {
        json_.Uint(functions_[row].source);
      }
    });
    column("lineNumber", rows,
           [this](std::uint32_t row) { number_or_null(functions_[row].start_line); });
    column("columnNumber", rows, [this](std::uint32_t) { json_.Null(); });
    member("length", rows);
    json_.EndObject();
  }

  void write_sources() {
    write_key(json_, "sources");
    json_.StartObject();
    column("id", sources_.size(), [this](std::uint32_t) { json_.Null(); });
    column("filename", sources_.size(),
           [this](std::uint32_t row) { json_.Uint(strings_.intern(sources_.text(row))); });
    member("length", std::uint64_t{sources_.size()});
    json_.EndObject();
  }

  // A resource per library.
  void write_resource_table() {
    const std::uint64_t rows = libraries_.size();
    write_key(json_, "resourceTable");
    json_.StartObject();
    column("lib", rows, [this](std::uint32_t row) { json_.Uint(row); });
    column("name", rows, [this](std::uint32_t row) {
      json_.Uint(strings_.intern(file_name_of(locations_.module_of_image(libraries_[row]))));
    });
    column("host", rows, [this](std::uint32_t) { json_.Null(); });
    column("type", rows, [this](std::uint32_t) { json_.Int(kResourceOfLibrary); });
    member("length", rows);
    json_.EndObject();
  }

  void write_strings() {
    column("stringArray", strings_.size(),
           [this](std::uint32_t row) { write_text(json_, strings_.text(row)); });
  }

  // With functions for all that lies in libraries there is nothing left for symbol servers.
  [[nodiscard]] bool all_named() const {
    for (std::uint32_t row = 0; row < locations_.size(); ++row) {
      if (locations_.location(row).code == kNoCode && library_of(row) != kNoImage) {
        return false;
      }
    }
    return !locations_.functions().empty();
  }

  void write_meta() {
    write_key(json_, "meta");
    json_.StartObject();
    member_ms("interval", static_cast<double>(interval_ns_) / kNsPerMs);
    const TimeRange range = job_.selection.time_range();
    member_ms("startTime",
              static_cast<double>(job_.selection.wall_ns(range.first_ns).value_or(0)) / kNsPerMs);
    member("processType", std::uint64_t{0});
    member("product", "stackpack");
    member("importedFrom", "stackpack");
    member("stackwalk", std::uint64_t{1});
    member("version", std::uint64_t{kGeckoVersion});
    member("preprocessedProfileVersion", std::uint64_t{kFormatVersion});
    member("oscpu", job_.view().fact("os.name"));
    member("CPUName", job_.view().fact("cpu.description"));
    member_bool("symbolicated", all_named());
    member_bool("usesOnlyOneStackType", true);
    member_bool("sourceCodeIsNotOnSearchfox", true);
    empty_list("markerSchema");
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
      member("name", row.name);
      member("color", row.color);
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
  LocationTable locations_;
  StackTree tree_;
  StackResolver resolver_;
  LaneSamples lanes_;
  DistinctCounter distinct_;
  struct FunctionRow {
    std::uint32_t name = 0;
    std::uint32_t library = kNoImage;
    std::uint32_t source = kNoSource;
    std::uint32_t start_line = 0;
  };
  core::StringTable strings_;
  core::StringTable sources_;
  std::vector<FunctionRow> functions_;
  std::vector<std::uint32_t> function_of_;  // by location
  std::uint64_t interval_ns_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint32_t> library_of_image_;
  std::vector<std::uint32_t> libraries_;  // images
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
