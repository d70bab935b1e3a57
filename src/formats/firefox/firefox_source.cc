#include "formats/firefox/firefox_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bytes/byte_text.h"
#include "capture/json_outline.h"
#include "capture/synthetic_frames.h"
#include "formats/firefox/firefox_columns.h"
#include "formats/firefox/firefox_losses.h"

namespace stackpack::firefox {

namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kOldestVersion = 60;
// A sample takes few bytes of the file however deep it is.
constexpr std::size_t kMostFrames = 4'096;
constexpr double kMostNs = 9.0e18;

// Bits of the column `flags`, where there is one; else what is not there is null or -1.
enum FrameFlag : unsigned { kFrameHasAddress = 2, kFrameHasLine = 16 };
enum FunctionFlag : unsigned {
  kFunctionHasResource = 4,
  kFunctionHasSource = 8,
  kFunctionHasLine = 16
};

std::uint64_t whole(double value) {
  const double rounded = std::round(value);
  return rounded >= kMostNs ? std::uint64_t{9'000'000'000'000'000'000}
         : rounded > 0      ? static_cast<std::uint64_t>(rounded)
                            : 0;
}

std::uint32_t line_number(double value) {
  return value >= 1 && value < kUnknownId ? static_cast<std::uint32_t>(value) : 0;
}

std::optional<std::uint32_t> id_of(std::string_view text) {
  std::uint32_t id = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end ? std::optional(id)
                                                                        : std::nullopt;
}

class ProfileReader {
 public:
  ProfileReader(FileColumns file, capture::CallstackSink& sink, const ReadOptions& options)
      : file_(std::move(file)), sink_(sink), options_(options), names_(sink.system()) {}

  Status run() {
    if (file_.start_ms > 0) {
      sink_.system().metadata("clock.wall_offset_ns", "0");
    }
    const auto frames = file_.tables.find("frameTable/func");
    addresses_.assign(frames == file_.tables.end() ? 0 : frames->second.size(), std::nullopt);
    std::uint32_t place = 0;
    for (const ThreadColumns& thread : file_.threads) {
      if (const Status status = read_thread(thread, ++place); !status) {
        return status;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool has(std::string_view table, double row, unsigned flag) const {
    const std::string column = std::string(table) + "/flags";
    const double flags = file_.value(column, row);
    return file_.tables.count(column) == 0 ||
           (flags >= 0 && flags < 4294967296.0 && (static_cast<std::uint32_t>(flags) & flag) != 0);
  }

  [[nodiscard]] std::string_view text(double index) const {
    return index >= 0 && index < static_cast<double>(file_.strings.size())
               ? std::string_view(file_.strings[static_cast<std::size_t>(index)])
               : std::string_view();
  }

  // The path of the image that a frame lies in, or the name where that is all there is.
  [[nodiscard]] std::string_view image_of(double frame, double function) const {
    const double library =
        has("frameTable", frame, kFrameHasAddress) ? file_.value("frameTable/lib", frame) : -1;
    const double resource = has("funcTable", function, kFunctionHasResource)
                                ? file_.value("funcTable/resource", function)
                                : -1;
    for (const double index : {library, file_.value("resourceTable/lib", resource)}) {
      if (index >= 0 && index < static_cast<double>(file_.library_paths.size())) {
        return file_.library_paths[static_cast<std::size_t>(index)];
      }
    }
    // Resources of libraries have no place but their name.
    const std::string_view name = text(file_.value("resourceTable/name", resource));
    const auto found = std::find_if(
        file_.library_paths.begin(), file_.library_paths.end(), [name](std::string_view path) {
          return !name.empty() && path.substr(path.rfind('/') + 1) == name;
        });
    return found == file_.library_paths.end() ? name : std::string_view(*found);
  }

  Result<std::uint64_t> address_of(double frame) {
    const double function = file_.value("frameTable/func", frame);
    capture::FunctionFact fact;
    const std::string_view image = image_of(frame, function);
    const std::string_view name = text(file_.value("funcTable/name", function));
    std::string unnamed;
    if (name.starts_with("0x") && !image.empty()) {
      unnamed = std::string(image.substr(image.rfind('/') + 1)) + "+" + std::string(name);
    }
    fact.name = name.empty()      ? std::string_view("[unnamed]")
                : unnamed.empty() ? name
                                  : std::string_view(unnamed);
    if (has("funcTable", function, kFunctionHasSource)) {
      const double source = file_.value("funcTable/source", function);
      fact.file = text(source >= 0 ? file_.value("sources/filename", source)
                                   : file_.value("funcTable/fileName", function));
    }
    if (has("funcTable", function, kFunctionHasLine)) {
      fact.line = line_number(file_.value("funcTable/lineNumber", function));
    }
    if (has("frameTable", frame, kFrameHasLine)) {
      const std::uint32_t line = line_number(file_.value("frameTable/line", frame));
      fact.code.line = line;
      fact.code.file = line != 0 ? fact.file : std::string_view();
    }
    const auto address = names_.address_of(fact, {image});
    return address ? Result<std::uint64_t>(*address)
                   : Result<std::uint64_t>(Error{ErrorCode::kLimit, 0, "firefox: too many names"});
  }

  // The frames of a row of stackTable, leaf first. False: it is damaged, which is counted.
  Result<bool> find_stack(double row) {
    stack_.clear();
    const bool offsets = file_.tables.count("stackTable/prefixOffset") != 0;
    while (row >= 0) {
      const double frame = file_.value("stackTable/frame", row);
      if (!(frame >= 0 && frame < static_cast<double>(addresses_.size()))) {
        lose(loss::kUnknownIndex);
        return false;
      }
      if (stack_.size() == kMostFrames) {
        lose(loss::kStackTooDeep);
        return false;
      }
      auto& known = addresses_[static_cast<std::size_t>(frame)];
      if (!known) {
        const Result<std::uint64_t> made = address_of(frame);
        if (!made) {
          return made.error();
        }
        known = *made;
      }
      stack_.push_back(*known);
      const double offset = file_.value("stackTable/prefixOffset", row);
      const double parent = !offsets      ? file_.value("stackTable/prefix", row)
                            : offset >= 1 ? row - offset
                                          : -1;
      if (parent >= row) {  // parents come first
        lose(loss::kUnknownIndex);
        return false;
      }
      row = parent;
    }
    return true;
  }

  void lose(std::string_view loss) { sink_.losses().add(loss, LossKind::kDamage, 1, 0); }

  std::uint32_t event_of(const ThreadColumns& thread, std::string_view& name) {
    const bool timed = thread.weight_type == "tracing-ms";
    std::string event = timed ? "time" : thread.weight_type == "bytes" ? "bytes" : "samples";
    if (const std::size_t open = name.rfind(" [");
        name.ends_with(']') && open != 0 && open != std::string_view::npos) {
      event = name.substr(open + 2, name.size() - open - 3);
      name = name.substr(0, open);
    }
    const bool weighted = !thread.weight.empty();
    const auto [known, fresh] = events_.try_emplace({event, weighted}, 0);
    if (fresh) {
      known->second = sink_.add_event({event, weighted});
      if (weighted && (timed || thread.weight_type == "bytes")) {
        sink_.system().metadata("pprof.unit." + event, timed ? "nanoseconds" : "bytes");
      }
    }
    return known->second;
  }

  // What all samples of a thread have in common; says what it is called.
  Sample sample_of(const ThreadColumns& thread, std::uint32_t place) {
    Sample sample;
    std::string_view name = thread.name;
    sample.event = event_of(thread, name);
    sample.pid = id_of(thread.pid).value_or(1);
    sample.tid = id_of(thread.tid).value_or(place);
    sample.flags = sample.pid == 0 && sample.tid == 0 ? kSampleIdle : 0;
    sink_.system().thread_named(sample.pid, sample.tid, kUnknownTime, name);
    if (!thread.process_name.empty()) {
      sink_.system().process_named(sample.pid, kUnknownTime, thread.process_name, false);
    }
    return sample;
  }

  Status read_thread(const ThreadColumns& thread, std::uint32_t place) {
    if (thread.stack.empty()) {
      return {};
    }
    Sample sample = sample_of(thread, place);
    const double scale = thread.weight_type == "tracing-ms" ? kNsPerMs : 1;
    const std::uint64_t start = whole(file_.start_ms * kNsPerMs);
    double time = 0;
    for (std::size_t i = 0; i < thread.stack.size(); ++i) {
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, 0, "firefox: cancelled"};
      }
      const bool deltas = thread.time.empty();
      const Column& times = deltas ? thread.time_deltas : thread.time;
      if (i >= times.size() || (!thread.weight.empty() && i >= thread.weight.size())) {
        lose(loss::kDamagedSample);
        continue;
      }
      time = deltas ? time + times[i] : times[i];
      const double weight = thread.weight.empty() ? 1 : thread.weight[i] * scale;
      if (!(weight >= 0) || !std::isfinite(time)) {
        lose(loss::kDamagedSample);
        continue;
      }
      sample.weight = whole(weight);
      sample.time_ns = start + whole(time * kNsPerMs);
      if (const Status status = add(sample, thread.stack[i]); !status) {
        return status;
      }
    }
    return {};
  }

  Status add(Sample& sample, double row) {
    const Result<bool> found = find_stack(row);
    if (!found || !*found) {
      return found ? Status{} : Status(found.error());
    }
    sample.origin = stack_.empty() ? StackOrigin::kNone : StackOrigin::kRecorded;
    const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(stack_.size())};
    return sink_.add_sample(sample, {stack_, std::span(&run, stack_.empty() ? 0 : 1)});
  }

  FileColumns file_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  capture::SyntheticFrames names_;
  std::map<std::pair<std::string, bool>, std::uint32_t> events_;
  std::vector<std::optional<std::uint64_t>> addresses_;  // by row of frameTable
  std::vector<std::uint64_t> stack_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  const capture::JsonOutline json(head.bytes);
  if (!json.is_json()) {
    return {ProbeAnswer::kNo, "is not JSON"};
  }
  const bool has_threads = json.has("threads[]/processType") ||
                           json.has("threads[]/samples/stack") ||
                           json.has("threads[]/stackTable") || json.has("threads[]/isMainThread");
  if (json.has("meta/preprocessedProfileVersion") || (has_threads && json.has("meta/version"))) {
    return {ProbeAnswer::kCertain, "the keys of the Firefox Profiler"};
  }
  if (has_threads || json.has("shared/stackTable") || json.has("shared/frameTable") ||
      json.has("shared/stringArray") || json.has("meta/processType")) {
    return {ProbeAnswer::kPossible, "some keys of the Firefox Profiler", 50};
  }
  return {ProbeAnswer::kNo, "has neither meta/preprocessedProfileVersion nor threads with samples"};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  const std::optional<std::uint64_t> total = source.size();
  if (!source.seekable() || !total) {
    return Error{ErrorCode::kUsage, kNoOffset, "firefox: the source must be seekable"};
  }
  Result<FileColumns> file = read_columns(source, options.control, options.max_bytes);
  if (!file) {
    return file.error();
  }
  if (file->version < kOldestVersion || file->tables.count("stackTable/frame") == 0) {
    return Error{ErrorCode::kUnsupported, 0,
                 "firefox: not the processed format of version 60 or later"};
  }
  if (const Status status = ProfileReader(std::move(*file), sink, options).run(); !status) {
    return status.error();
  }
  capture::ByteAccount account;
  account.total = *total;
  account.parsed = *total;
  return account;
}

constinit const capture::SourceFormat source_format = {
    .name = "firefox",
    .probe = probe,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::firefox
