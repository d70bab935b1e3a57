#include "formats/firefox/firefox_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bytes/byte_text.h"
#include "capture/first_date.h"
#include "capture/json_outline.h"
#include "capture/name_times.h"
#include "capture/synthetic_frames.h"
#include "capture/unnamed_code.h"
#include "capture/weighted_events.h"
#include "core/weight_scale.h"
#include "formats/firefox/firefox_columns.h"
#include "formats/firefox/firefox_losses.h"

namespace stackpack::firefox {

namespace {

constexpr double kNsPerMs = 1e6;
constexpr int kDigitsOfMs = 6;
constexpr double kMostAddress = 9007199254740992.0;  // 2^53: a double has all of the digits
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
      : file_(std::move(file)),
        sink_(sink),
        options_(options),
        names_(sink.system()),
        events_(sink) {}

  Status run() {
    if (file_.start_ms * kNsPerMs >= static_cast<double>(capture::kFirstDateNs)) {
      sink_.system().metadata("clock.wall_offset_ns", "0");
    }
    use_tables(file_.shared);
    std::uint32_t place = 0;
    std::uint64_t markers = file_.counters;
    for (const ThreadColumns& thread : file_.threads) {
      markers += thread.markers;
      if (thread.tables.has_stacks()) {
        use_tables(thread.tables);
      }
      if (const Status status = read_thread(thread, ++place); !status) {
        return status;
      }
    }
    thread_names_.tell(sink_.system());
    if (markers != 0) {
      sink_.losses().add(loss::kMarkersNotKept, LossKind::kNotice, markers);
    }
    return {};
  }

 private:
  void use_tables(const NameTables& tables) {
    tables_ = &tables;
    const auto frames = tables.columns.find("frameTable/func");
    addresses_.assign(frames == tables.columns.end() ? 0 : frames->second.size(), std::nullopt);
  }

  [[nodiscard]] const std::vector<std::string>& libraries() const {
    return tables_->library_paths.empty() ? file_.shared.library_paths : tables_->library_paths;
  }

  [[nodiscard]] bool has(std::string_view table, double row, unsigned flag) const {
    const std::string column = std::string(table) + "/flags";
    const double flags = tables_->value(column, row);
    return !tables_->has(column) ||
           (flags >= 0 && flags < 4294967296.0 && (static_cast<std::uint32_t>(flags) & flag) != 0);
  }

  [[nodiscard]] std::string_view text(double index) const {
    return index >= 0 && index < static_cast<double>(tables_->strings.size())
               ? std::string_view(tables_->strings[static_cast<std::size_t>(index)])
               : std::string_view();
  }

  // The path of the image that a frame lies in, or the name where that is all there is.
  [[nodiscard]] std::string_view image_of(double frame, double function) const {
    const double library =
        has("frameTable", frame, kFrameHasAddress) ? tables_->value("frameTable/lib", frame) : -1;
    const double resource = has("funcTable", function, kFunctionHasResource)
                                ? tables_->value("funcTable/resource", function)
                                : -1;
    for (const double index : {library, tables_->value("resourceTable/lib", resource)}) {
      if (index >= 0 && index < static_cast<double>(libraries().size())) {
        return libraries()[static_cast<std::size_t>(index)];
      }
    }
    // Resources of libraries have no place but their name.
    const std::string_view name = text(tables_->value("resourceTable/name", resource));
    const auto found =
        std::find_if(libraries().begin(), libraries().end(), [name](std::string_view path) {
          return !name.empty() && capture::last_part(path) == name;
        });
    return found == libraries().end() ? name : std::string_view(*found);
  }

  // What code without a name is called, where its image is known: the address in there, which in
  // old files is not that of its name.
  [[nodiscard]] std::string unnamed(std::string_view image, double frame, double function,
                                    std::string_view name) const {
    const double own = has("frameTable", frame, kFrameHasAddress)
                           ? tables_->value("frameTable/address", frame)
                           : -1;
    const double address = own >= 0 ? own : tables_->value("funcTable/address", function);
    if (address < 0 || address >= kMostAddress) {  // with flags, the name is no address in there
      return tables_->has("frameTable/flags") ? std::string(name)
                                              : capture::unnamed_code(image, name);
    }
    std::array<char, 20> digits{'0', 'x'};
    const auto end = std::to_chars(digits.data() + 2, digits.data() + digits.size(),
                                   static_cast<std::uint64_t>(address), 16);
    return capture::unnamed_code(image, {digits.data(), end.ptr});
  }

  struct NamedPlace {
    std::string_view name;
    std::string_view file{};
    std::uint32_t line = 0;
  };
  // Names as later versions have them. Before version 2 they have file and line in them, and before
  // 17 those of scripts that the browser starts say so.
  [[nodiscard]] NamedPlace old_name(std::string_view name) const {
    constexpr std::string_view kStarted = "AutoEntryScript ";
    if (!tables_->has("funcTable/relevantForJS") && !tables_->has("funcTable/flags") &&
        name.starts_with(kStarted)) {
      return {name.substr(kStarted.size())};
    }
    const std::size_t open = name.rfind(" (");
    const std::size_t colon = name.rfind(':');
    if (tables_->has("funcTable/fileName") || tables_->has("funcTable/source") ||
        !name.ends_with(')') || open == std::string_view::npos || colon == std::string_view::npos ||
        colon < open) {
      return {name};
    }
    const std::optional<std::uint32_t> line =
        id_of(name.substr(colon + 1, name.size() - colon - 2));
    return line ? NamedPlace{name.substr(0, open), name.substr(open + 2, colon - open - 2), *line}
                : NamedPlace{name};
  }

  Result<std::uint64_t> address_of(double frame) {
    const double function = tables_->value("frameTable/func", frame);
    capture::FunctionFact fact;
    const std::string_view image = image_of(frame, function);
    const NamedPlace named = old_name(text(tables_->value("funcTable/name", function)));
    const std::string_view name = named.name;
    const std::string address_name = name.starts_with("0x") && !image.empty()
                                         ? unnamed(image, frame, function, name)
                                         : std::string();
    fact.name = name.empty()           ? std::string_view("[unnamed]")
                : address_name.empty() ? name
                                       : std::string_view(address_name);
    if (!named.file.empty()) {
      fact.file = named.file;
      fact.line = named.line;
    } else if (has("funcTable", function, kFunctionHasSource)) {
      const double source = tables_->value("funcTable/source", function);
      fact.file = text(source >= 0 ? tables_->value("sources/filename", source)
                                   : tables_->value("funcTable/fileName", function));
    }
    if (named.file.empty() && has("funcTable", function, kFunctionHasLine)) {
      fact.line = line_number(tables_->value("funcTable/lineNumber", function));
    }
    if (has("frameTable", frame, kFrameHasLine)) {
      const std::uint32_t line = line_number(tables_->value("frameTable/line", frame));
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
    const bool offsets = tables_->has("stackTable/prefixOffset");
    while (row >= 0) {
      const double frame = tables_->value("stackTable/frame", row);
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
      const double offset = tables_->value("stackTable/prefixOffset", row);
      const double parent = !offsets      ? tables_->value("stackTable/prefix", row)
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

  std::string event_of(const ThreadColumns& thread, std::string_view& name) {
    const bool timed = thread.weight_type == "tracing-ms";
    std::string event = timed ? "time" : thread.weight_type == "bytes" ? "bytes" : "samples";
    if (const std::size_t open = name.rfind(" [");
        name.ends_with(']') && open != std::string_view::npos) {
      event = name.substr(open + 2, name.size() - open - 3);
      name = name.substr(0, open);
    }
    event = thread.event.empty() ? event : thread.event;
    if (!thread.weight.empty() && (timed || thread.weight_type == "bytes")) {
      sink_.system().metadata(std::string(core::kUnitKey) + event, timed ? "nanoseconds" : "bytes");
    }
    return event;
  }

  // What all samples of a thread have in common; says what it is called.
  Sample sample_of(const ThreadColumns& thread, std::uint32_t place) {
    Sample sample;
    std::string_view name = thread.name;
    event_ = event_of(thread, name);
    sample.event = events_.row_of(event_, !thread.weight.empty());
    sample.pid = number_of(thread.pid, 1);
    sample.tid = number_of(thread.tid, place);
    sample.flags = sample.pid == 0 && sample.tid == 0 ? kSampleIdle : 0;
    name_thread(sample, name, thread);
    return sample;
  }

  // The export writes `?` for what is not known.
  static std::uint32_t number_of(std::string_view text, std::uint32_t otherwise) {
    return text == "?" ? kUnknownId : id_of(text).value_or(otherwise);
  }

  [[nodiscard]] std::uint64_t time_of(double time_ms) const {
    return whole(file_.start_ms * kNsPerMs) + whole(time_ms * kNsPerMs);
  }

  // A thread with several names is several here.
  void name_thread(const Sample& sample, std::string_view name, const ThreadColumns& thread) {
    const Column& times = thread.time.empty() ? thread.time_deltas : thread.time;
    const std::uint64_t first =
        times.empty() || !std::isfinite(times.front()) ? 0 : time_of(times.front());
    if (sample.tid != kUnknownId && name != "[unknown]") {
      thread_names_.thread(sample.pid, sample.tid, first, name);
    }
    if (!thread.process_name.empty()) {
      thread_names_.process(sample.pid, first, thread.process_name);
    }
  }

  Status read_thread(const ThreadColumns& thread, std::uint32_t place) {
    if (thread.stack.empty()) {
      return {};
    }
    Sample sample = sample_of(thread, place);
    const bool timed = thread.weight_type == "tracing-ms";
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
      const double weight = thread.weight.empty() ? 1 : thread.weight[i];
      if (!(weight >= 0) || !std::isfinite(weight) || !std::isfinite(time)) {
        lose(weight < 0 ? loss::kNegativeWeight : loss::kDamagedSample);
        continue;
      }
      if (!thread.weight.empty()) {
        events_.weigh(sample, event_,
                      timed ? core::decimal_of(weight, kDigitsOfMs, 0) : core::decimal_of(weight),
                      0);
      }
      sample.time_ns = time_of(time);
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
  const NameTables* tables_ = nullptr;  // of the thread
  capture::CallstackSink& sink_;
  ReadOptions options_;
  capture::SyntheticFrames names_;
  capture::WeightedEvents events_;
  capture::NameTimes thread_names_;
  std::string event_;                                    // of the thread
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
  if (file->is_unprocessed) {
    return Error{ErrorCode::kUnsupported, 0,
                 "firefox: a profile as the browser gives it; open and save it with the Firefox "
                 "Profiler first"};
  }
  const bool has_stacks =
      file->shared.has_stacks() ||
      std::any_of(file->threads.begin(), file->threads.end(),
                  [](const ThreadColumns& thread) { return thread.tables.has_stacks(); });
  if (!has_stacks) {
    return Error{ErrorCode::kUnsupported, 0, "firefox: no table of callstacks"};
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
