#include "formats/speedscope/speedscope_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bytes/byte_text.h"
#include "capture/json_outline.h"
#include "capture/json_stream.h"
#include "capture/name_times.h"
#include "capture/synthetic_frames.h"
#include "capture/weighted_events.h"
#include "core/no_callstack.h"
#include "core/rapid_json.h"
#include "core/weight_scale.h"
#include "formats/speedscope/speedscope_losses.h"
#include "formats/speedscope/trace_event_frames.h"

namespace stackpack::speedscope {

namespace {

constexpr std::size_t kMostFrames = 65'535;  // of a callstack that can be stored
// Of an interval: an event takes few bytes of the file however deep it is.
constexpr std::size_t kMostOpenFrames = 2'048;
constexpr std::size_t kMostDepth = 64;  // of brackets
constexpr std::size_t kMostProfiles = std::size_t{1} << 20;

enum class Place : std::uint8_t {
  kOutside,
  kRoot,
  kProfiles,
  kProfile,
  kSamples,
  kSample,
  kWeights,
  kEvents,
  kEvent,
  kShared,
  kFrames,
  kFrame,
};

// What a bracket opens: after a key, or as an element of an array.
struct Step {
  std::string_view key;
  Place from;
  Place to;
};
constexpr Step kSteps[] = {
    {"profiles", Place::kRoot, Place::kProfiles},  {"", Place::kProfiles, Place::kProfile},
    {"samples", Place::kProfile, Place::kSamples}, {"", Place::kSamples, Place::kSample},
    {"weights", Place::kProfile, Place::kWeights}, {"events", Place::kProfile, Place::kEvents},
    {"", Place::kEvents, Place::kEvent},           {"shared", Place::kRoot, Place::kShared},
    {"frames", Place::kShared, Place::kFrames},    {"", Place::kFrames, Place::kFrame},
};

struct Profile {
  std::string name;
  std::string unit;
  double start = 0;
  std::vector<double> weights;
  // Found when all of it is known.
  int digits = 0;  // nanoseconds of a unit, as a power of ten
  bool timed = false;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string event;
};

// Of a unit of time: its nanoseconds, as a power of ten.
std::optional<int> nanosecond_digits(std::string_view unit) {
  return unit == "nanoseconds"    ? std::optional(0)
         : unit == "microseconds" ? std::optional(3)
         : unit == "milliseconds" ? std::optional(6)
         : unit == "seconds"      ? std::optional(9)
                                  : std::nullopt;
}

// What is left of the difference of two times when the noise of their last bits is taken off.
double difference(double from, double to) {
  constexpr double kTimesNoise = 8;
  const double large = std::max(std::abs(from), std::abs(to));
  const double noise = large * std::numeric_limits<double>::epsilon() * kTimesNoise;
  const double unit = noise > 0 ? std::pow(10.0, std::floor(std::log10(noise)) + 1) : 0;
  const double exact = to - from;
  return unit > 0 && unit < 1 ? std::round(exact / unit) / std::round(1 / unit) : exact;
}

// Takes ` WORD NUMBER` off the end of a name.
std::uint32_t take_id(std::string_view& name, std::string_view word) {
  const std::size_t at = name.rfind(word);
  std::uint32_t id = kUnknownId;
  if (at == std::string_view::npos) {
    return id;
  }
  const std::string_view digits = name.substr(at + word.size());
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, id);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
    return kUnknownId;
  }
  name = name.substr(0, at);
  return id;
}

// Takes what RapidJSON reads, first to learn names, weights and units, then to make samples.
class SpeedscopeReader : public capture::JsonScalars<SpeedscopeReader> {
 public:
  using Ch = char;

  SpeedscopeReader(capture::CallstackSink& sink, const ReadOptions& options)
      : sink_(sink), options_(options), names_(sink.system()), events_(sink) {}

  Status read(io::ByteSource& source) {
    for (const bool second : {false, true}) {
      second_ = second;
      profile_ = 0;
      capture::JsonStream stream(source);
      stream_ = &stream;
      const Status passed = pass(stream);
      stream_ = nullptr;
      if (!passed) {
        return passed;
      }
      if (!second) {
        describe();
      }
    }
    return {};
  }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  static bool Null() { return true; }
  static bool Bool(bool /*value*/) { return true; }
  bool Key(const char* data, rapidjson::SizeType size, bool /*copy*/) {
    key_.assign(data, size);
    return true;
  }
  bool StartObject() { return begin(); }
  bool StartArray() { return begin(); }
  bool EndObject(rapidjson::SizeType /*members*/) { return end(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return end(); }
  // NOLINTEND(readability-identifier-naming)

 private:
  friend capture::JsonScalars<SpeedscopeReader>;

  Status pass(capture::JsonStream& stream) {
    core::JsonReader reader;
    const rapidjson::ParseResult result =
        reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(stream,
                                                                                          *this);
    if (!stream.status() || !status_) {
      return stream.status() ? status_ : stream.status();
    }
    return result.IsError() ? Status(Error{ErrorCode::kCorrupt, result.Offset(),
                                           "speedscope: not JSON of its schema"})
                            : Status();
  }

  [[nodiscard]] Place place() const { return places_.empty() ? Place::kOutside : places_.back(); }
  [[nodiscard]] bool is_array(Place at) const {
    return at == Place::kProfiles || at == Place::kSamples || at == Place::kEvents ||
           at == Place::kFrames;
  }

  bool begin() {
    Place next = places_.empty() ? Place::kRoot : Place::kOutside;
    for (const Step& step : kSteps) {
      const bool here = !places_.empty() && step.from == place();
      next = here && (is_array(place()) || step.key == key_) ? step.to : next;
    }
    places_.push_back(next);
    if (next == Place::kProfile) {
      return begin_profile();
    }
    if (next == Place::kSample) {
      stack_.clear();
    } else if (next == Place::kEvent) {
      event_ = {};
    } else if (next == Place::kFrame) {
      frame_ = {};
    }
    if (options_.control.stop_requested()) {
      return fail({ErrorCode::kCancelled, stream_->Tell(), "speedscope: cancelled"});
    }
    return places_.size() <= kMostDepth;
  }

  bool begin_profile() {
    if (second_) {
      time_ = profiles_[profile_].start;
      sample_ = 0;
      too_deep_ = 0;
      open_.clear();
      options_.control.advance_to(stream_->Tell());
    } else {
      profiles_.emplace_back();
    }
    return profiles_.size() <= kMostProfiles && charge(sizeof(Profile));
  }

  bool end() {
    const Place ended = place();
    places_.pop_back();
    switch (ended) {
      case Place::kProfile:
        ++profile_;
        return true;
      case Place::kSample:
        return !second_ || end_sample();
      case Place::kEvent:
        return !second_ || end_event();
      case Place::kFrame:
        return second_ || end_frame();
      default:
        return true;
    }
  }

  bool number(double value) {
    switch (place()) {
      case Place::kProfile:
        if (!second_ && key_ == "startValue") {
          profiles_.back().start = value;
        }
        return true;
      case Place::kSample:
        if (second_ && stack_.size() <= kMostFrames) {
          stack_.push_back(value);
        }
        return true;
      case Place::kWeights:
        if (!second_) {
          profiles_.back().weights.push_back(value);
        }
        return second_ || charge(sizeof(double));
      case Place::kEvent:
        (key_ == "at" ? event_.at : key_ == "frame" ? event_.frame : ignored_) = value;
        return true;
      case Place::kFrame:
        if (key_ == "line" && value >= 1 && value < kUnknownId) {
          frame_.line = static_cast<std::uint32_t>(value);
        }
        return true;
      default:
        return true;
    }
  }

  bool text(std::string_view value) {
    if (place() == Place::kEvent && key_ == "type") {
      event_.opens = value == "O";
    } else if (!second_ && place() == Place::kProfile &&
               (key_ == "name" || key_ == "unit" || key_ == "event")) {
      Profile& profile = profiles_.back();
      (key_ == "name" ? profile.name : key_ == "unit" ? profile.unit : profile.event) = value;
      return charge(value.size());
    } else if (place() == Place::kRoot && key_ == "exporter") {
      of_trace_event_ = is_trace_event(value);
      is_own_ = value == "stackpack";
    } else if (place() == Place::kFrame && (key_ == "name" || key_ == "file")) {
      (key_ == "name" ? frame_.name : frame_.file) = value;
    } else if (place() == Place::kFrame && key_ == "function") {
      frame_.function = value;
    }
    return true;
  }

  bool charge(std::size_t bytes) {
    bytes_ += second_ ? 0 : bytes;
    return bytes_ <= options_.max_table_bytes ||
           fail({ErrorCode::kLimit, stream_->Tell(), "speedscope: larger tables than allowed"});
  }
  bool fail(const Error& error) {
    status_ = error;
    return false;
  }

  bool end_frame() {
    TraceEventFrame named;
    named.name = frame_.name;
    if (of_trace_event_) {
      named = trace_event_frame(frame_.name);
    } else if (is_own_) {
      named = own_frame();
    } else {
      named = state_frame(frame_.name).value_or(named);
    }
    if (named.role != FrameRole::kCode) {
      return note_role(named);
    }
    capture::FunctionFact fact;
    fact.name = named.name.empty() ? std::string_view("[unnamed]") : named.name;
    fact.file = frame_.file;
    fact.line = frame_.line;
    const auto address = names_.address_of(fact, {named.image});
    if (!address) {
      return fail({ErrorCode::kLimit, stream_->Tell(), "speedscope: too many names"});
    }
    frames_.push_back(*address);
    return charge(sizeof(std::uint64_t));
  }

  // The export writes samples without a callstack as a frame, and names of functions a second time
  // where their image is in front.
  [[nodiscard]] TraceEventFrame own_frame() const {
    TraceEventFrame frame;
    frame.name = frame_.function.empty() ? frame_.name : frame_.function;
    frame.role = frame_.name == core::kNoCallstack ? FrameRole::kGroup : FrameRole::kCode;
    return frame;
  }

  // A frame that is no code.
  bool note_role(const TraceEventFrame& frame) {
    roles_[frames_.size()] = {frame.role, std::string(frame.name), std::string(frame.event),
                              frame.id};
    frames_.push_back(0);
    if (frame.role == FrameRole::kProcess) {
      sink_.system().process_named(frame.id, kUnknownTime, frame.name, false);
      if (!frame.command_line.empty()) {
        sink_.system().process_command_line(frame.id, kUnknownTime, frame.command_line);
      }
    } else if (!frame.event.empty()) {
      sink_.system().metadata(std::string(core::kUnitKey).append(frame.event), "nanoseconds");
    }
    return charge(sizeof(std::uint64_t) + sizeof(Role) + frame.name.size());
  }

  // Between the two passes: what the name of a profile says.
  void describe() {
    bool any_time = false;
    std::uint32_t place = 0;
    for (Profile& profile : profiles_) {
      ++place;
      const std::optional<int> digits = nanosecond_digits(profile.unit);
      profile.timed = digits.has_value();
      profile.digits = digits.value_or(0);
      any_time |= profile.timed;
      std::string_view name = profile.name;
      std::string event = "samples";
      if (const std::size_t open = name.rfind(" [");
          name.ends_with(']') && open != 0 && open != std::string_view::npos) {
        event = name.substr(open + 2, name.size() - open - 3);
        name = name.substr(0, open);
      }
      profile.event = is_own_ && !profile.event.empty() ? profile.event : event;
      profile.tid = take_id(name, " tid ");
      profile.pid = take_id(name, " pid ");
      if (!is_own_ && (profile.pid == kUnknownId || profile.tid == kUnknownId)) {
        name = profile.name;
        profile.pid = 1;
        profile.tid = place;
      }
      name_event(profile);
      if (of_trace_event_) {
        continue;  // frames say which process and thread it is
      }
      name_thread(profile, name);
    }
    thread_names_.tell(sink_.system());
    if (!any_time) {
      sink_.system().metadata("samples.aggregated", "1");
    }
  }

  // A thread with several names has a profile for each.
  void name_thread(const Profile& profile, std::string_view name) {
    const std::uint64_t first =
        profile.timed ? core::decimal_of(profile.start, profile.digits, 0).digits : 0;
    if (profile.tid != kUnknownId) {
      thread_names_.thread(profile.pid, profile.tid, first, name);
    }
    if (profile.pid == profile.tid || profile.tid == kUnknownId) {
      thread_names_.process(profile.pid, first, name);
    }
  }

  // Weights of one event have one unit: of further units the event is called as they are.
  void name_event(Profile& profile) {
    const std::string_view unit = profile.timed            ? std::string_view("nanoseconds")
                                  : profile.unit == "none" ? std::string_view()
                                                           : profile.unit;
    const auto [known, fresh] = units_.try_emplace(profile.event, unit);
    if (!fresh && known->second != unit) {
      profile.event = profile.timed ? "time" : profile.unit.empty() ? "none" : profile.unit;
      units_.try_emplace(profile.event, unit);
    }
    events_.row_of(profile.event, true);
    if (!unit.empty()) {
      sink_.system().metadata(std::string(core::kUnitKey) + profile.event, unit);
    }
  }

  void lose(std::string_view loss, LossKind kind = LossKind::kDamage) {
    sink_.losses().add(loss, kind, 1, stream_->Tell());
  }

  bool end_sample() {
    const Profile& profile = profiles_[profile_];
    if (sample_ >= profile.weights.size()) {
      lose(loss::kSampleWithoutWeight);
      return true;
    }
    const double weight = profile.weights[sample_++];
    const double time = time_;
    time_ += weight;
    if (stack_.size() > kMostFrames) {
      lose(loss::kStackTooDeep);
      return true;
    }
    return emit(stack_, time, weight);
  }

  // The time since the event before belongs to the frames that were open.
  bool end_event() {
    const double length = difference(time_, event_.at);
    if (length != 0 && !open_.empty() && too_deep_ == 0 && !emit(open_, time_, length)) {
      return false;
    }
    if (length != 0 && too_deep_ != 0) {
      lose(loss::kStackTooDeep);
    }
    time_ = event_.at;
    if (event_.opens && open_.size() >= kMostOpenFrames) {
      ++too_deep_;
    } else if (event_.opens) {
      open_.push_back(event_.frame);
    } else if (too_deep_ != 0) {
      --too_deep_;
    } else if (!open_.empty() && open_.back() == event_.frame) {
      open_.pop_back();
    } else {
      lose(loss::kUnbalancedEvent);
    }
    return true;
  }

  // A callstack, root first, for some time.
  bool emit(const std::vector<double>& stack, double time, double weight) {
    const Profile& profile = profiles_[profile_];
    if (!(weight >= 0)) {
      lose(loss::kNegativeWeight);
      return true;
    }
    if (stack.empty() || (weight == 0 && !is_own_)) {  // our own are samples at one time
      lose(loss::kGaps, LossKind::kNotice);
      return true;
    }
    // A time has no digits below the nanosecond that its writer did not count in.
    const core::DecimalWeight decimal =
        core::decimal_of(weight, profile.digits, profile.digits == 0 ? core::kMostDecimals : 0);
    Sample sample;
    sample.pid = profile.pid;
    sample.tid = profile.tid;
    events_.weigh(sample, place_stack(stack, sample).value_or(profile.event), decimal,
                  stream_->Tell());
    if (sample.weight == 0 && !is_own_) {
      return true;
    }
    sample.time_ns = profile.timed ? core::decimal_of(time, profile.digits, 0).digits : 0;
    sample.origin = addresses_.empty() ? StackOrigin::kNone : StackOrigin::kRecorded;
    const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
    status_ = sink_.add_sample(sample, {addresses_, std::span(&run, addresses_.empty() ? 0 : 1)});
    return status_.has_value();
  }

  // Takes the addresses of a callstack, and what frames that are no code say of the sample: its
  // process and thread, and as the result its event.
  std::optional<std::string_view> place_stack(const std::vector<double>& stack, Sample& sample) {
    std::optional<std::string_view> event;
    const Role* thread = nullptr;
    addresses_.clear();
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
      if (!(*frame >= 0 && *frame < static_cast<double>(frames_.size()))) {
        lose(loss::kUnknownFrame);
        continue;
      }
      const auto index = static_cast<std::size_t>(*frame);
      const auto role = roles_.empty() ? roles_.end() : roles_.find(index);
      if (role == roles_.end()) {
        addresses_.push_back(frames_[index]);
      } else if (!role->second.event.empty()) {
        event = role->second.event;
      } else if (role->second.role == FrameRole::kProcess) {
        sample.pid = role->second.id;
      } else if (role->second.role == FrameRole::kThread) {
        thread = &role->second;
        sample.tid = thread->id;
      }
    }
    if (thread != nullptr && threads_.emplace(sample.pid, sample.tid).second) {
      sink_.system().thread_named(sample.pid, sample.tid, kUnknownTime, thread->name);
    }
    return event;
  }

  struct Role {
    FrameRole role = FrameRole::kCode;
    std::string name;
    std::string event;
    std::uint32_t id = kUnknownId;
  };
  struct OpenFrame {
    std::string name;
    std::string function;
    std::string file;
    std::uint32_t line = 0;
  };
  struct Event {
    bool opens = false;
    double frame = -1;
    double at = 0;
  };

  capture::CallstackSink& sink_;
  ReadOptions options_;
  capture::SyntheticFrames names_;
  const capture::JsonStream* stream_ = nullptr;
  Status status_;
  bool second_ = false;
  std::uint64_t bytes_ = 0;
  std::string key_;
  std::vector<Place> places_;
  std::vector<Profile> profiles_;
  std::vector<std::uint64_t> frames_;  // the addresses that stand for them
  bool of_trace_event_ = false;
  bool is_own_ = false;
  std::map<std::size_t, Role> roles_;                          // of frames that are no code
  std::set<std::pair<std::uint32_t, std::uint32_t>> threads_;  // that were named
  capture::WeightedEvents events_;
  std::map<std::string, std::string> units_;  // by event
  capture::NameTimes thread_names_;
  std::size_t profile_ = 0;
  std::size_t sample_ = 0;
  double time_ = 0;  // in the unit of the profile
  double ignored_ = 0;
  std::vector<double> stack_;   // numbers of frames, root first
  std::vector<double> open_;    // likewise, of events
  std::uint64_t too_deep_ = 0;  // further frames that are open
  Event event_;
  OpenFrame frame_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  const capture::JsonOutline json(head.bytes);
  if (!json.is_json()) {
    return {ProbeAnswer::kNo, "is not JSON"};
  }
  const bool has_schema =
      json.text_at("$schema").ends_with("speedscope.app/file-format-schema.json");
  const bool has_profiles = json.has("profiles[]/type") && json.has("profiles[]/endValue");
  const bool has_frames = json.has("shared/frames[]/name");
  if (has_schema || (has_profiles && has_frames)) {
    return {ProbeAnswer::kCertain, "the keys of speedscope"};
  }
  if (has_profiles || has_frames) {
    return {ProbeAnswer::kPossible, "some keys of speedscope", 50};
  }
  return {ProbeAnswer::kNo, "has neither the $schema of speedscope nor shared/frames or profiles"};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  const std::optional<std::uint64_t> total = source.size();
  if (!source.seekable() || !total) {
    return Error{ErrorCode::kUsage, kNoOffset, "speedscope: the source must be seekable"};
  }
  SpeedscopeReader reader(sink, options);
  const Status status = reader.read(source);
  if (!status) {
    return status.error();
  }
  capture::ByteAccount account;
  account.total = *total;
  account.parsed = *total;
  return account;
}

constinit const capture::SourceFormat source_format = {
    .name = "speedscope",
    .probe = probe,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::speedscope
