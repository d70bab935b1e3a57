// V8's .cpuprofile: a tree of nodes, which of them ran one after another, and for how long.
// Source: https://chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-Profile
//
// The format has one thread and microseconds. A single thread's samples of time lie at their times;
// all else lies end to end, thread by thread, and a microsecond stands for one of the unit.

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/number_table.h"
#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/job/export_job.h"
#include "export/lanes/lane_samples.h"
#include "export/output/json_output.h"

namespace stackpack::exporting {

namespace {

constexpr std::uint64_t kRootKey = 0;
constexpr std::uint64_t kGapKey = ~std::uint64_t{0};  // nothing was seen
constexpr unsigned kDecimalsOfUs = 3;                 // in ns

// The column of a function of JavaScript, whose name as linked is `NAME (URL:LINE:COLUMN)`.
// `beginning`: up to the line. 0: not known.
std::uint32_t column_of(std::string_view linkage, std::string_view beginning) {
  std::uint32_t column = 0;
  if (linkage.starts_with(beginning) && linkage.ends_with(')')) {
    const std::string_view rest = linkage.substr(beginning.size());
    if (rest.starts_with(':')) {
      std::from_chars(rest.data() + 1, rest.data() + rest.size() - 1, column);
    }
  }
  return column;
}

// Where a function is; what a script has no place for are keys of ours.
struct FramePlace {
  std::string_view file = {};
  std::string script = "0";
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::optional<std::string_view> module = {};
  std::optional<std::string_view> linkage = {};
};

// What a reader calls a function without a name.
std::string unnamed(const FramePlace& place) {
  std::string text = "(anonymous";
  if (!place.file.empty()) {
    text.append(" ").append(place.file.substr(place.file.find_last_of("/\\") + 1));
    text += place.line != 0 ? ':' + std::to_string(place.line) : std::string();
  }
  return text + ')';
}

// The number of a script without a file, whose functions are linked as `NAME (script NUMBER:...)`.
std::string script_of(std::string_view linkage, std::string_view name) {
  const std::string beginning = std::string(name) + " (script ";
  if (!linkage.starts_with(beginning)) {
    return "0";
  }
  const std::string_view rest = linkage.substr(beginning.size());
  return std::string(rest.substr(0, rest.find_first_of(":)")));
}

// What a reader takes for the name as linked, where the file does not have it. Finds the script
// and the column.
std::string usual_linkage(const std::string& name, std::string_view linkage, FramePlace& place) {
  if (place.file.empty()) {
    place.script = script_of(linkage, name);
  }
  if (place.file.empty() && place.script == "0") {
    return {};
  }
  std::string usual =
      name + " (" + (place.file.empty() ? "script " + place.script : std::string(place.file));
  if (place.line != 0) {
    usual += ':' + std::to_string(place.line);
    place.column = column_of(linkage, usual);
    usual += place.column != 0 ? ':' + std::to_string(place.column) : std::string();
  }
  return usual + ')';
}

class CpuprofileEncoder {
 public:
  CpuprofileEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        stream_(out),
        json_(stream_),
        locations_(job.selection, {.identity = query::ImageIdentity::kFile,
                                   .style = job.options.frames,
                                   .unfold = true,
                                   .by_function = true}),
        resolver_(job.selection, locations_, tree_),
        lanes_(job.selection, resolver_,
               static_cast<std::size_t>(job.options.memory_limit / LaneSamples::kBytesPerSample)) {}

  Status write() {
    Status status = lanes_.find_lanes();
    if (status) {
      describe();
      status = find_nodes();
    }
    if (!status) {
      return status;
    }
    json_.StartObject();
    write_event();
    write_nodes();
    write_time("startTime", first_ - first_fraction());
    write_time("endTime", core::saturating_sum(first_, length_));
    status = write_samples();
    if (status) {
      status = write_deltas();
    }
    json_.EndObject();
    job_.report.stacks = distinct_.count();
    return status ? out_.status() : status;
  }

 private:
  /// What ran next, and for how long.
  using Visit = std::function<void(std::uint64_t key, std::uint64_t length)>;

  void describe() {
    const std::vector<Lane>& lanes = lanes_.lanes();
    const query::EventChoice& choice = job_.selection.choice();
    const std::uint32_t event = lanes.empty() ? choice.main_event() : lanes.front().event;
    const bool one_event = std::all_of(lanes.begin(), lanes.end(),
                                       [&](const Lane& lane) { return lane.event == event; });
    event_ = one_event ? choice.name_of(event) : "samples";
    unit_ = choice.measure_of(event).unit;
    const auto [unit, decimals] = core::parse_unit(unit_);
    decimals_ = unit == "ns" ? decimals + kDecimalsOfUs : decimals;
    at_times_ = lanes.size() == 1 && unit_ == "ns" && lanes_.has_times();
    first_ = at_times_ ? job_.selection.time_range().first_ns : 0;
  }

  // What is less than a microsecond is before the first sample: the beginning is a whole number.
  [[nodiscard]] std::uint64_t first_fraction() const {
    return first_ % core::power_of_ten(kDecimalsOfUs);
  }

  // The key of a node: the thread, and the node of its callstack.
  [[nodiscard]] std::uint64_t key_of(std::uint32_t lane, std::uint32_t node) const {
    const std::uint64_t slot = lanes_.lanes().size() == 1 ? 0 : std::uint64_t{lane} + 1;
    return (slot << 32) | node;
  }
  static std::uint32_t slot_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }
  static std::uint32_t node_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

  [[nodiscard]] std::uint64_t parent_of(std::uint64_t key) const {
    if (key == kGapKey || node_of(key) == query::StackTree::kRoot) {
      return kRootKey;
    }
    return (key & ~std::uint64_t{0xFFFFFFFF}) | tree_.parent(node_of(key));
  }

  Status for_each(const Visit& visit) {
    std::uint32_t lane = 0;
    return lanes_.for_each([&](const Lane& /*lane*/, const LaneReplay& replay) {
      std::uint64_t now = first_;
      const Status status = replay([&](const LaneSample& sample) {
        if (at_times_ && sample.time_ns > now) {
          visit(kGapKey, sample.time_ns - now);
          now = sample.time_ns;
        }
        visit(key_of(lane, sample.node), sample.value);
        core::add_saturating(now, sample.value);
      });
      ++lane;
      return status;
    });
  }

  // Parents get their numbers before their children.
  std::uint32_t add_node(std::uint64_t key) {
    above_.clear();
    while (keys_.find(key) == keys_.kNone) {
      above_.push_back(key);
      key = parent_of(key);
    }
    std::uint32_t number = keys_.find(key);
    for (; !above_.empty(); above_.pop_back()) {
      children_[number].push_back(static_cast<std::uint32_t>(keys_.size()));
      number = keys_.number(above_.back());
      children_.emplace_back();
      hits_.push_back(0);
    }
    return number;
  }

  Status find_nodes() {
    keys_.number(kRootKey);
    children_.emplace_back();
    hits_.push_back(0);
    return for_each([this](std::uint64_t key, std::uint64_t length) {
      ++hits_[add_node(key)];
      core::add_saturating(length_, length);
      last_ = length;
      if (key != kGapKey) {
        ++job_.report.samples;
        core::add_saturating(job_.report.weight, length);
        distinct_.add(node_of(key));
      }
    });
  }

  // A key of ours, for what the format has no place for.
  void write_event() {
    write_key(json_, "stackpack");
    json_.StartObject();
    write_member(json_, "event", event_);
    write_member(json_, "unit", unit_);
    write_member(json_, "timed", at_times_);
    write_time("last", last_);  // how long the last sample takes
    json_.EndObject();
  }

  void write_time(std::string_view key, std::uint64_t value) {
    write_key(json_, key);
    write_number(json_, core::decimal_text(value, decimals_));
  }

  void write_nodes() {
    write_key(json_, "nodes");
    json_.StartArray();
    for (std::uint32_t number = 0; number < keys_.size(); ++number) {
      json_.StartObject();
      write_member(json_, "id", std::uint64_t{number} + 1);
      write_node(keys_[number]);
      write_member(json_, "hitCount", hits_[number]);
      write_key(json_, "children");
      json_.StartArray();
      for (const std::uint32_t child : children_[number]) {
        json_.Uint64(std::uint64_t{child} + 1);
      }
      json_.EndArray();
      json_.EndObject();
    }
    json_.EndArray();
  }

  void write_node(std::uint64_t key) {
    const bool one_lane = lanes_.lanes().size() == 1;
    if (key == kGapKey) {
      write_member(json_, "gap", true);  // our own key
      write_frame("(idle)");
    } else if (node_of(key) != query::StackTree::kRoot) {
      write_location(tree_.location(node_of(key)));
    } else if (key == kRootKey) {
      if (one_lane) {
        write_thread(lanes_.lanes().front());
      }
      write_frame("(root)");
    } else {
      const Lane& lane = lanes_.lanes()[slot_of(key) - 1];
      write_thread(lane);
      write_frame(lanes_.title_of(lane));
    }
  }

  // A key of ours: whose callstacks are below.
  void write_thread(const Lane& lane) {
    const query::Track& track = job_.selection.tracks()[lane.track];
    write_key(json_, "thread");
    json_.StartObject();
    write_member(json_, "name", job_.selection.thread_name(track));
    if (track.pid != kUnknownId) {
      write_member(json_, "pid", std::uint64_t{track.pid});
    }
    if (track.tid != kUnknownId) {
      write_member(json_, "tid", std::uint64_t{track.tid});
    }
    json_.EndObject();
  }

  void write_frame(std::string_view name, const FramePlace& place = {}) {
    write_key(json_, "callFrame");
    json_.StartObject();
    write_member(json_, "functionName", name);
    write_member(json_, "scriptId", std::string_view(place.script));
    write_member(json_, "url", place.file);
    write_key(json_, "lineNumber");
    json_.Int64(std::int64_t{place.line} - 1);
    write_key(json_, "columnNumber");
    json_.Int64(std::int64_t{place.column} - 1);
    if (place.module) {
      write_member(json_, "module", *place.module);
    }
    if (place.linkage) {
      write_member(json_, "linkage", *place.linkage);
    }
    json_.EndObject();
  }

  void write_location(std::uint32_t number) {
    const query::Location& location = locations_.location(number);
    std::string name;
    FramePlace place;
    std::string_view linkage;
    if (location.code == query::kNoCode) {
      locations_.append_text(number, name);
    } else {
      const query::FunctionName& function =
          locations_.functions()[locations_.places()[location.code].function];
      name = locations_.text(function.name);
      linkage = locations_.text(function.linkage);
      place.file = locations_.text(function.file);
      place.line = function.start_line;
    }
    const std::string usual = usual_linkage(name, linkage, place);
    if (usual != linkage && !(usual.empty() && linkage == name)) {
      place.linkage = linkage;
    }
    const std::string_view module = location.image == query::kNoImage
                                        ? std::string_view()
                                        : locations_.module_of_image(location.image).path;
    if (module != place.file || name == "(root)") {
      place.module = module;
    }
    write_frame(name == unnamed(place) ? std::string_view() : name, place);
  }

  Status write_samples() {
    write_key(json_, "samples");
    json_.StartArray();
    const Status status = for_each([this](std::uint64_t key, std::uint64_t /*length*/) {
      json_.Uint64(std::uint64_t{keys_.find(key)} + 1);
    });
    json_.EndArray();
    return status;
  }

  // The time of each since the one before, which is how long that one ran.
  Status write_deltas() {
    write_key(json_, "timeDeltas");
    json_.StartArray();
    std::uint64_t before = first_fraction();
    const Status status = for_each([&](std::uint64_t /*key*/, std::uint64_t length) {
      write_number(json_, core::decimal_text(before, decimals_));
      before = length;
    });
    json_.EndArray();
    return status;
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
  std::string event_;
  std::string unit_;
  unsigned decimals_ = 0;
  bool at_times_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t length_ = 0;  // of all
  std::uint64_t last_ = 0;
  core::NumberTable<std::uint64_t> keys_;
  std::vector<std::vector<std::uint32_t>> children_;  // by number
  std::vector<std::uint64_t> hits_;                   // by number
  std::vector<std::uint64_t> above_;
};

}  // namespace

Status write_cpuprofile(ExportJob& job, ExportOutput& out) {
  return CpuprofileEncoder(job, out).write();
}

}  // namespace stackpack::exporting
