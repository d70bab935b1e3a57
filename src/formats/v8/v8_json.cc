#include "formats/v8/v8_json.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/json_stream.h"
#include "core/rapid_json.h"
#include "formats/v8/v8_frames.h"
#include "formats/v8/v8_losses.h"

namespace stackpack::v8 {

namespace {

constexpr std::size_t kMostBrackets = 2 * kMostFrames + 64;

enum class Place : std::uint8_t {
  kRoot,
  kEvents,
  kEvent,
  kEventId,
  kArguments,
  kData,
  kProfile,
  kNodes,
  kNode,
  kCallFrame,
  kChildren,
  kTicks,
  kSamples,
  kDeltas,
  kLines,
  kOwnEvent,
  kOwnThread,
  kOutside,
};

// What a bracket opens: after a key, or as an element of an array.
struct Step {
  std::string_view key;
  Place from;
  Place to;
};
constexpr Step kSteps[] = {
    {"traceEvents", Place::kRoot, Place::kEvents},
    {"", Place::kEvents, Place::kEvent},
    {"args", Place::kEvent, Place::kArguments},
    {"id2", Place::kEvent, Place::kEventId},
    {"data", Place::kArguments, Place::kData},
    {"cpuProfile", Place::kData, Place::kProfile},
    {"timeDeltas", Place::kData, Place::kDeltas},
    {"lines", Place::kData, Place::kLines},
    {"nodes", Place::kProfile, Place::kNodes},
    {"samples", Place::kProfile, Place::kSamples},
    {"timeDeltas", Place::kProfile, Place::kDeltas},
    {"nodes", Place::kRoot, Place::kNodes},
    {"head", Place::kRoot, Place::kNode},
    {"samples", Place::kRoot, Place::kSamples},
    {"timeDeltas", Place::kRoot, Place::kDeltas},
    {"timestamps", Place::kRoot, Place::kDeltas},
    {"stackpack", Place::kRoot, Place::kOwnEvent},
    {"thread", Place::kNode, Place::kOwnThread},
    {"", Place::kNodes, Place::kNode},
    {"callFrame", Place::kNode, Place::kCallFrame},
    {"children", Place::kNode, Place::kChildren},
    {"positionTicks", Place::kNode, Place::kTicks},
    {"", Place::kChildren, Place::kNode},
};

bool is_array(Place place) {
  return place == Place::kEvents || place == Place::kNodes || place == Place::kChildren;
}

std::uint32_t id_of(double value) {
  return value >= 0 && value < kUnknownId ? static_cast<std::uint32_t>(value) : kUnknownId;
}

std::uint32_t counted_from_one(double value, double first) {
  return value >= first ? id_of(value + 1 - first) % kUnknownId : 0;
}

// Takes what RapidJSON reads.
class V8JsonReader : public capture::JsonScalars<V8JsonReader> {
 public:
  using Ch = char;

  V8JsonReader(io::ByteSource& source, capture::CallstackSink& sink,
               const capture::ReadControl& control, std::uint64_t max_bytes)
      : stream_(source), sink_(sink), control_(control), left_(max_bytes), names_(sink.system()) {}

  Result<FileProfiles> read(std::optional<std::uint64_t> size) {
    core::JsonReader reader;
    const rapidjson::ParseResult result =
        reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(stream_,
                                                                                          *this);
    if (!stream_.status() || !status_) {
      return stream_.status() ? status_.error() : stream_.status().error();
    }
    file_.bytes = size.value_or(stream_.Tell());
    if (result.IsError()) {
      const bool at_end = stream_.Peek() == '\0' && stream_.Tell() >= file_.bytes;
      if (!is_trace_ || !at_end) {
        return Error{ErrorCode::kCorrupt, result.Offset(), "v8: not JSON of a profile or trace"};
      }
      sink_.losses().add(loss::kCutTrace, LossKind::kDamage, 1, stream_.Tell());
    } else if (!is_trace_ && (has_samples_ || profile_.is_heap)) {
      file_.whole = std::move(profile_);
    }
    return std::move(file_);
  }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  static bool Null() { return true; }
  bool Bool(bool value) {
    if (place() == Place::kNode && key_ == "gap") {
      open_.back().is_gap = value;
    } else if (place() == Place::kOwnEvent && key_ == "timed") {
      own_event().timed = value;
    }
    return true;
  }
  bool Key(const char* data, rapidjson::SizeType size, bool /*copy*/) {
    key_.assign(data, size);
    return true;
  }
  bool StartObject() { return begin(places_.empty() ? Place::kRoot : next_place()); }
  bool StartArray() { return begin(places_.empty() ? Place::kEvents : next_place()); }
  bool EndObject(rapidjson::SizeType /*members*/) { return end(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return end(); }
  // NOLINTEND(readability-identifier-naming)

 private:
  friend capture::JsonScalars<V8JsonReader>;

  struct OpenNode {
    std::uint32_t index = 0;
    CallFrame frame;
    bool is_gap = false;
    std::optional<OwnThread> thread = {};
  };
  struct OpenEvent {
    std::string name;
    std::string id;
    std::string named;  // what a thread or process is called
    double ts = 0;
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
  };

  [[nodiscard]] Place place() const { return places_.empty() ? Place::kOutside : places_.back(); }

  [[nodiscard]] Place next_place() const {
    const Place here = place();
    if (here == Place::kOutside) {
      return here;
    }
    for (const Step& step : kSteps) {
      if (step.from == here && (is_array(here) || step.key == key_)) {
        return step.to;
      }
    }
    return Place::kOutside;
  }

  bool begin(Place next) {
    file_.lines += place() == Place::kTicks ? 1U : 0U;
    places_.push_back(next);
    if (next == Place::kNode) {
      return begin_node();
    }
    if (next == Place::kOwnThread) {
      open_.back().thread.emplace();
      return charge(sizeof(OwnThread));
    }
    is_trace_ = is_trace_ || next == Place::kEvents;
    has_samples_ = has_samples_ || next == Place::kSamples;
    if (next == Place::kDeltas) {
      profile_.is_old = profile_.is_old || key_ == "timestamps";
    } else if (next == Place::kEvent) {
      event_ = {};
      control_.advance_to(stream_.Tell());
    }
    if (control_.stop_requested()) {
      return fail({ErrorCode::kCancelled, stream_.Tell(), "v8: cancelled"});
    }
    return places_.size() <= kMostBrackets ||
           fail({ErrorCode::kLimit, stream_.Tell(), "v8: deeper than allowed"});
  }

  bool begin_node() {
    const bool nested = places_[places_.size() - 2] == Place::kChildren;
    Node node;
    node.parent = nested ? open_.back().index : kUnknownId;
    open_.push_back({static_cast<std::uint32_t>(profile_.nodes.size()), {}});
    profile_.nodes.push_back(node);
    return open_.size() <= kMostFrames
               ? charge(sizeof(Node) * 2)
               : fail({ErrorCode::kLimit, stream_.Tell(), "v8: deeper than allowed"});
  }

  bool end() {
    const Place ended = place();
    places_.pop_back();
    if (ended == Place::kNode) {
      return end_node();
    }
    return ended != Place::kEvent || end_event();
  }

  bool end_node() {
    const OpenNode& open = open_.back();
    Node& node = profile_.nodes[open.index];
    node.kind = open.thread   ? NodeKind::kThread
                : open.is_gap ? NodeKind::kGap
                              : kind_of(open.frame);
    const bool has_frame = node.kind == NodeKind::kCode || node.kind == NodeKind::kIdle;
    const auto address =
        has_frame ? names_.address_of(open.frame) : std::optional<std::uint64_t>(0);
    if (open.thread) {
      profile_.threads[open.index] = *open.thread;
    }
    node.address = address.value_or(0);
    open_.pop_back();
    return address || fail({ErrorCode::kLimit, stream_.Tell(), "v8: too many names"});
  }

  bool end_event() {
    std::uint64_t kept = 0;
    const bool begins = event_.name == "Profile" || event_.name == "CpuProfile";
    if (begins || event_.name == "ProfileChunk") {
      std::string key =
          event_.id.empty() ? "thread " + std::to_string(event_.tid) : "id " + event_.id;
      kept = sizeof(TracePart) + key.size();
      file_.parts[{event_.pid, std::move(key)}].push_back(
          {event_.ts, begins, event_.pid, event_.tid, std::move(profile_)});
    } else if (event_.name == "thread_name") {
      sink_.system().thread_named(event_.pid, event_.tid, kUnknownTime, event_.named);
    } else if (event_.name == "process_name") {
      sink_.system().process_named(event_.pid, kUnknownTime, event_.named, false);
    } else {
      ++file_.other_events;
    }
    profile_ = {};
    return charge(kept);
  }

  bool number(double value) {
    switch (place()) {
      case Place::kRoot:
      case Place::kData:
      case Place::kProfile:
        if (key_ == "startTime" || key_ == "endTime") {
          (key_ == "startTime" ? profile_.start : profile_.end) = value;
        }
        return true;
      case Place::kEvent:
        event_number(value);
        return true;
      case Place::kNode:
        return node_number(value);
      case Place::kCallFrame:
        return frame_number(value);
      case Place::kChildren:
        profile_.children.emplace_back(open_.back().index, id_of(value));
        return charge(sizeof(profile_.children.back()));
      case Place::kSamples:
        profile_.samples.push_back(id_of(value));
        return charge(sizeof(std::uint32_t));
      case Place::kDeltas:
        profile_.deltas.push_back(value);
        return charge(sizeof(double));
      case Place::kOwnThread:
        if (key_ == "pid" || key_ == "tid") {
          OwnThread& thread = *open_.back().thread;
          (key_ == "pid" ? thread.pid : thread.tid) = id_of(value);
        }
        return true;
      case Place::kOwnEvent:
        own_event().last = key_ == "last" ? value : own_event().last;
        return true;
      case Place::kLines:
        file_.lines += value != 0 ? 1U : 0U;
        return true;
      default:
        return true;
    }
  }

  OwnEvent& own_event() {
    if (!profile_.own) {
      profile_.own.emplace();
    }
    return *profile_.own;
  }

  void event_number(double value) {
    if (key_ == "ts") {
      event_.ts = value;
    } else if (key_ == "pid" || key_ == "tid") {
      (key_ == "pid" ? event_.pid : event_.tid) = id_of(value);
    } else if (key_ == "id") {
      event_.id = std::to_string(value);
    }
  }

  bool node_number(double value) {
    Node& node = profile_.nodes[open_.back().index];
    if (key_ == "id" || key_ == "parent") {
      (key_ == "id" ? node.id : node.parent_id) = id_of(value);
    } else if (key_ == "selfSize") {
      node.self_bytes = value;
      profile_.is_heap = true;
    }
    return frame_number(value);
  }

  bool frame_number(double value) {
    CallFrame& frame = open_.back().frame;
    const double first = place() == Place::kNode ? 1 : 0;  // old files count from 1
    if (key_ == "lineNumber") {
      frame.line = counted_from_one(value, first);
    } else if (key_ == "columnNumber") {
      frame.column = counted_from_one(value, first);
    } else if (key_ == "scriptId") {
      frame.script = std::to_string(id_of(value));
    }
    return true;
  }

  bool text(std::string_view value) {
    switch (place()) {
      case Place::kNode:
      case Place::kCallFrame:
        return frame_text(value);
      case Place::kEvent:
        if (key_ == "name" || key_ == "id") {
          (key_ == "name" ? event_.name : event_.id) = value;
        }
        return true;
      case Place::kOwnThread:
        open_.back().thread->name = key_ == "name" ? value : open_.back().thread->name;
        return charge(value.size());
      case Place::kOwnEvent:
        if (key_ == "event" || key_ == "unit") {
          (key_ == "event" ? own_event().name : own_event().unit) = value;
        }
        return true;
      case Place::kEventId:
        event_.id = value;
        return true;
      case Place::kArguments:
        if (key_ == "name") {
          event_.named = value;
        }
        return true;
      default:
        return true;
    }
  }

  bool frame_text(std::string_view value) {
    CallFrame& frame = open_.back().frame;
    if (key_ == "functionName") {
      frame.name = value;
    } else if (key_ == "url") {
      frame.url = value;
    } else if (key_ == "scriptId") {
      frame.script = value;
    } else if (key_ == "module") {
      frame.module = value;
    } else if (key_ == "linkage") {
      frame.linkage = value;
    }
    return charge(value.size());
  }

  bool charge(std::uint64_t bytes) {
    if (bytes > left_) {
      return fail({ErrorCode::kLimit, stream_.Tell(), "v8: larger profiles than allowed"});
    }
    left_ -= bytes;
    return true;
  }
  bool fail(const Error& error) {
    status_ = error;
    return false;
  }

  capture::JsonStream stream_;
  capture::CallstackSink& sink_;
  const capture::ReadControl& control_;
  std::uint64_t left_;
  FrameNames names_;
  Status status_;
  FileProfiles file_;
  Profile profile_;  // of the file, or the event
  OpenEvent event_;
  std::string key_;
  std::vector<Place> places_;
  std::vector<OpenNode> open_;
  bool is_trace_ = false;
  bool has_samples_ = false;
};

}  // namespace

Result<FileProfiles> read_profiles(io::ByteSource& source, capture::CallstackSink& sink,
                                   const capture::ReadControl& control, std::uint64_t max_bytes) {
  return V8JsonReader(source, sink, control, max_bytes).read(source.size());
}

}  // namespace stackpack::v8
