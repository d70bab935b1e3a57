#include "formats/v8/v8_source.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "capture/json_outline.h"
#include "core/weight_scale.h"
#include "formats/v8/v8_json.h"
#include "formats/v8/v8_losses.h"
#include "formats/v8/v8_profile.h"

namespace stackpack::v8 {

namespace {

constexpr double kUsPerSecond = 1e6;
constexpr double kMostUs = 4.5e15;  // 142 years
constexpr auto kMostNs = static_cast<std::int64_t>(kMostUs) * 1000;

// Whole microseconds keep all of their digits.
std::int64_t ns_of(double us) {
  const double within = std::clamp(us, -kMostUs, kMostUs);
  const double whole = std::trunc(within);
  return static_cast<std::int64_t>(whole) * 1000 + std::llround((within - whole) * 1e3);
}

std::uint64_t bytes_of(double value) {
  return value >= 1 ? static_cast<std::uint64_t>(std::min(value, 9.0e18)) : 0;
}

class ProfileWriter {
 public:
  ProfileWriter(capture::CallstackSink& sink, const ReadOptions& options)
      : sink_(sink), options_(options) {}

  Status write(FileProfiles& file) {
    count(loss::kEventsNotKept, file.other_events);
    count(loss::kLinesNotKept, file.lines);
    if (file.whole) {
      if (file.whole->threads.empty()) {
        sink_.system().thread_named(1, 1, kUnknownTime, "main");
      }
      return file.whole->is_heap ? write_heap(*file.whole) : write_samples(*file.whole, 1, 1);
    }
    for (auto& [key, parts] : file.parts) {
      if (const Status status = write_parts(parts); !status) {
        return status;
      }
    }
    return {};
  }

 private:
  void count(std::string_view loss, std::uint64_t times) {
    if (times != 0) {
      sink_.losses().add(loss, LossKind::kNotice, times);
    }
  }
  void lose(std::string_view loss) { sink_.losses().add(loss, LossKind::kDamage, 1, 0); }

  std::uint32_t event(std::string_view name, std::string_view unit) {
    sink_.system().metadata(std::string(core::kUnitKey).append(name), unit);
    return sink_.add_event({std::string(name), true});
  }

  // Parts come in any order.
  Status write_parts(std::vector<TracePart>& parts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const TracePart& a, const TracePart& b) { return a.ts < b.ts; });
    for (auto part = parts.begin(); part != parts.end();) {
      if (!part->begins) {
        lose(loss::kChunkWithoutProfile);
        ++part;
        continue;
      }
      Profile whole = std::move(part->profile);
      const TracePart& first = *part;
      for (++part; part != parts.end() && !part->begins; ++part) {
        whole.append(std::move(part->profile));
      }
      if (const Status status = write_samples(whole, first.pid, first.tid); !status) {
        return status;
      }
    }
    return {};
  }

  // The times of all samples in ns, and the end.
  std::vector<std::int64_t> times_of(const Profile& profile) {
    const double unit = profile.is_old ? kUsPerSecond : 1;
    std::int64_t time = ns_of(profile.start.value_or(0) * unit);
    std::int64_t last = time;
    std::uint64_t backward = 0;
    std::vector<std::int64_t> times;
    times.reserve(profile.samples.size() + 1);
    for (std::size_t i = 0; i < profile.samples.size(); ++i) {
      const bool known = i < profile.deltas.size();
      const std::int64_t delta = known ? ns_of(profile.deltas[i]) : 0;
      time = profile.is_old && known ? delta : std::clamp(time + delta, -kMostNs, kMostNs);
      backward += i != 0 && time < last ? 1U : 0U;
      last = time;
      times.push_back(time);
    }
    count(loss::kTimeBackward, backward);
    times.push_back(std::max(ns_of(profile.end.value_or(0) * unit), last));
    return times;
  }

  // What a sample of our own exports weighs: in a unit of ns its length, else in microseconds.
  static std::uint64_t own_weight(const OwnEvent& own, double length) {
    const auto [unit, decimals] = core::parse_unit(own.unit);
    const unsigned digits = decimals + (unit == "ns" ? 3 : 0);
    return core::decimal_of(length, static_cast<int>(digits), 0).digits;
  }

  // Nothing: it is not known what or when it was.
  std::optional<std::uint32_t> node_of(const Profile& profile,
                                       const std::map<std::uint32_t, std::uint32_t>& nodes,
                                       std::size_t sample) {
    const auto node = nodes.find(profile.samples[sample]);
    const bool timed = sample < profile.deltas.size() || profile.deltas.empty();
    if (node == nodes.end() || !timed) {
      lose(timed ? loss::kUnknownNode : loss::kSampleWithoutTime);
      return std::nullopt;
    }
    return node->second;
  }

  std::uint32_t event_of(const Profile& profile) {
    if (profile.own) {
      if (!profile.own->timed) {
        sink_.system().metadata("samples.aggregated", "1");
      }
      return event(profile.own->name, profile.own->unit);
    }
    if (!cpu_) {
      cpu_ = event("cpu", "nanoseconds");
    }
    return *cpu_;
  }

  Status write_samples(Profile& profile, std::uint32_t pid, std::uint32_t tid) {
    const std::map<std::uint32_t, std::uint32_t> nodes = profile.resolve();
    const std::vector<std::int64_t> times = times_of(profile);
    for (const auto& [node, thread] : profile.threads) {
      sink_.system().thread_named(thread.pid, thread.tid, kUnknownTime, thread.name);
    }
    Sample sample;
    sample.event = event_of(profile);
    for (std::size_t i = 0; i < profile.samples.size(); ++i) {
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, 0, "v8: cancelled"};
      }
      const std::optional<std::uint32_t> node = node_of(profile, nodes, i);
      if (!node || profile.nodes[*node].kind == NodeKind::kGap) {
        continue;
      }
      sample.time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(times[i], 0));
      sample.weight =
          static_cast<std::uint64_t>(std::max<std::int64_t>(times[i + 1] - times[i], 0));
      if (profile.own) {
        const bool is_last = i + 1 >= profile.deltas.size();
        sample.weight =
            own_weight(*profile.own, is_last ? profile.own->last : profile.deltas[i + 1]);
        sample.time_ns = profile.own->timed ? sample.time_ns : 0;
      }
      sample.pid = pid;  // unless a node says another one
      sample.tid = tid;
      if (const Status status = add(sample, profile, *node); !status) {
        return status;
      }
    }
    return {};
  }

  Status write_heap(Profile& profile) {
    profile.resolve();
    Sample sample;
    sample.event = event("heap", "bytes");
    sample.pid = 1;
    sample.tid = 1;
    sink_.system().metadata("samples.aggregated", "1");
    for (std::uint32_t i = 0; i < profile.nodes.size(); ++i) {
      sample.weight = bytes_of(profile.nodes[i].self_bytes);
      if (sample.weight == 0) {
        continue;
      }
      if (const Status status = add(sample, profile, i); !status) {
        return status;
      }
    }
    return {};
  }

  Status add(Sample& sample, const Profile& profile, std::uint32_t leaf) {
    stack_.clear();
    std::size_t depth = 0;
    for (std::uint32_t at = leaf; at != kUnknownId; at = profile.nodes[at].parent) {
      if (++depth > kMostFrames) {
        lose(loss::kStackTooDeep);
        return {};
      }
      const NodeKind kind = profile.nodes[at].kind;
      if (kind == NodeKind::kThread) {
        take_thread(sample, profile, at);
      } else if (kind != NodeKind::kRoot) {
        stack_.push_back(profile.nodes[at].address);
      }
    }
    const bool idle = profile.nodes[leaf].kind == NodeKind::kIdle;
    sample.flags = idle ? std::uint8_t{kSampleIdle} : std::uint8_t{0};
    sample.origin = stack_.empty() ? StackOrigin::kNone : StackOrigin::kRecorded;
    const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(stack_.size())};
    return sink_.add_sample(sample, {stack_, std::span(&run, stack_.empty() ? 0 : 1)});
  }

  static void take_thread(Sample& sample, const Profile& profile, std::uint32_t node) {
    const auto thread = profile.threads.find(node);
    if (thread != profile.threads.end()) {
      sample.pid = thread->second.pid;
      sample.tid = thread->second.tid;
    }
  }

  capture::CallstackSink& sink_;
  const ReadOptions& options_;
  std::optional<std::uint32_t> cpu_;
  std::vector<std::uint64_t> stack_;
};

}  // namespace

void Profile::append(Profile&& part) {
  const auto shift = static_cast<std::uint32_t>(nodes.size());
  for (Node& node : part.nodes) {
    node.parent += node.parent != kUnknownId ? shift : 0U;
  }
  for (auto& [parent, child] : part.children) {
    parent += shift;
  }
  nodes.insert(nodes.end(), part.nodes.begin(), part.nodes.end());
  children.insert(children.end(), part.children.begin(), part.children.end());
  samples.insert(samples.end(), part.samples.begin(), part.samples.end());
  deltas.insert(deltas.end(), part.deltas.begin(), part.deltas.end());
  start = part.start ? part.start : start;
  end = part.end ? part.end : end;
  part = {};
}

std::map<std::uint32_t, std::uint32_t> Profile::resolve() {
  std::map<std::uint32_t, std::uint32_t> index;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].id != kUnknownId) {
      index[nodes[i].id] = i;
    }
  }
  for (Node& node : nodes) {
    if (const auto parent = index.find(node.parent_id); parent != index.end()) {
      node.parent = parent->second;
    }
  }
  for (const auto& [parent, id] : children) {
    if (const auto child = index.find(id); child != index.end()) {
      nodes[child->second].parent = parent;
    }
  }
  return index;
}

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  const capture::JsonOutline json(head.bytes);
  if (!json.is_json()) {
    return {ProbeAnswer::kNo, "is not JSON"};
  }
  if (json.has("nodes[]/callFrame") || json.has("head/callFrame") ||
      json.has("head/functionName")) {
    return {ProbeAnswer::kCertain, "the keys of a profile of V8"};
  }
  if (json.has("traceEvents[]/ph") || json.has("[]/ph")) {
    return {ProbeAnswer::kCertain, "the keys of a trace of Chrome"};
  }
  if (json.has("timeDeltas") || json.has("head/selfSize") || json.has("traceEvents") ||
      json.has("nodes[]/hitCount")) {
    return {ProbeAnswer::kPossible, "some keys of a profile of V8", 50};
  }
  return {ProbeAnswer::kNo, "has neither nodes with callFrame nor events of Chrome"};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  Result<FileProfiles> file = read_profiles(source, sink, options.control, options.max_bytes);
  if (!file) {
    return file.error();
  }
  if (!file->whole && file->parts.empty()) {
    return Error{ErrorCode::kUnsupported, 0,
                 "v8: no samples; a trace has them when the category "
                 "disabled-by-default-v8.cpu_profiler is recorded"};
  }
  if (const Status status = ProfileWriter(sink, options).write(*file); !status) {
    return status.error();
  }
  capture::ByteAccount account;
  account.total = file->bytes;
  account.parsed = file->bytes;
  return account;
}

constinit const capture::SourceFormat source_format = {
    .name = "v8",
    .probe = probe,
    .streams = capture::always_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::v8
