#include "formats/jfr/event_samples.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "formats/jfr/jfr_losses.h"

namespace stackpack::jfr {

namespace {

constexpr std::uint64_t kMostTime = 9'000'000'000'000'000'000;
constexpr std::uint32_t kMostLine = 0x7FFF'FFFF;
// Threads of the Java machine that no thread of the system is: numbers of their own.
constexpr std::uint32_t kVirtualThread = 0x8000'0000;

// The first member that a type has counts.
constexpr WeightMember kWeights[] = {
    {"", Slot::kTlabSize, WeightUnit::kBytes},
    {"jdk.ObjectAllocationOutsideTLAB", Slot::kAllocationSize, WeightUnit::kBytes},
    {"profiler.LiveObject", Slot::kAllocationSize, WeightUnit::kBytes},
    {"jdk.ObjectAllocationSample", Slot::kWeight, WeightUnit::kBytes},
    {"profiler.Malloc", Slot::kSize, WeightUnit::kBytes},
    {"profiler.WallClockSample", Slot::kSamples, WeightUnit::kCount},
    {"jdk.CPUTimeSample", Slot::kSamplingPeriod, WeightUnit::kTicks},
    // Instants, whose duration says nothing.
    {"jdk.JavaErrorThrow", Slot::kStartTime, WeightUnit::kNone},
    {"jdk.JavaExceptionThrow", Slot::kStartTime, WeightUnit::kNone},
    {"jdk.OldObjectSample", Slot::kStartTime, WeightUnit::kNone},
    {"", Slot::kDuration, WeightUnit::kTicks},
};

// STATE_IN_OBJECT_WAIT as in_object_wait; empty for a thread that runs.
std::string state_suffix(std::string_view state) {
  constexpr std::string_view kPrefix = "STATE_";
  if (state.starts_with(kPrefix)) {
    state.remove_prefix(kPrefix.size());
  }
  std::string name;
  if (state != "RUNNABLE" && state != "DEFAULT") {
    std::transform(state.begin(), state.end(), std::back_inserter(name),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return name;
}

}  // namespace

void EventSamples::set_process(const ValueRow& row, const ConstantPools& pools) {
  const std::uint64_t pid = row.number(Slot::kPid);
  if (pid == 0 || pid >= kUnknownId || pid == pid_) {
    return;
  }
  pid_ = static_cast<std::uint32_t>(pid);
  std::string command(pools.text(row, Slot::kJvmArguments));
  const std::string_view program = pools.text(row, Slot::kJavaArguments);
  command += (command.empty() || program.empty() ? "" : " ") + std::string(program);
  sink_.system().process_named(pid_, kUnknownTime, "java", false);
  if (!command.empty()) {
    sink_.system().process_command_line(pid_, kUnknownTime, command);
  }
}

void EventSamples::begin_chunk(const ChunkHeader& chunk, const ConstantPools& pools) {
  chunk_ = &chunk;
  pools_ = &pools;
  traces_.assign(pools.traces().size(), 0);
  frames_.clear();
  weights_.clear();
}

// The event of a type and a state of threads, and how samples of the type weigh.
EventSamples::EventRow EventSamples::event_of(const Type& type, const ValueRow& row) {
  const std::string_view recorded =
      type.has(Slot::kState) ? pools_->thread_state(row.number(Slot::kState)) : std::string_view();
  const auto [known, fresh] =
      weights_.try_emplace({type.id, recorded.empty() ? 0 : row.number(Slot::kState)});
  if (!fresh) {
    return known->second;
  }
  const auto* const weight =
      std::find_if(std::begin(kWeights), std::end(kWeights), [&type](const WeightMember& member) {
        return (member.type.empty() || member.type == type.known_as) && type.has(member.slot);
      });
  EventRow& made = known->second;
  const bool is_weighted = weight != std::end(kWeights) && weight->unit != WeightUnit::kNone;
  made.weight = is_weighted ? weight : nullptr;
  std::string name = type.name;
  if (const std::string state = state_suffix(recorded); !state.empty()) {
    name += '/' + state;
  }
  const auto [event, is_new] = events_.try_emplace(name, 0);
  if (is_new) {
    event->second = sink_.add_event({name, made.weight != nullptr});
    if (made.weight != nullptr && made.weight->unit != WeightUnit::kCount) {
      sink_.system().metadata("pprof.unit." + name,
                              made.weight->unit == WeightUnit::kBytes ? "bytes" : "nanoseconds");
    }
  }
  made.index = event->second;
  return made;
}

Result<bool> EventSamples::add(const Type& type, const ValueRow& row, std::uint64_t offset) {
  const std::uint32_t trace = pools_->traces().number_of(row.number(Slot::kStackTrace));
  const bool is_known = trace != core::NumberTable<std::uint64_t>::kNone;
  if (!is_known) {
    lose(loss::kUnknownConstant, LossKind::kDamage, offset);
    if (chunk_->finished) {
      return false;
    }
  }
  const TraceRow recorded = is_known ? pools_->traces().at(trace) : TraceRow{0, 0, true, false};
  Sample sample;
  sample.time_ns = std::min(chunk_->time_ns(row.number(Slot::kStartTime)), kMostTime);
  find_thread(type, row, sample, offset);
  const EventRow event = event_of(type, row);
  sample.event = event.index;
  if (event.weight != nullptr) {
    const std::uint64_t weight = row.number(event.weight->slot);
    sample.weight = event.weight->unit == WeightUnit::kTicks ? chunk_->length_ns(weight) : weight;
  }
  sample.origin = recorded.frames == 0 ? StackOrigin::kNone : StackOrigin::kRecorded;
  if (!is_known) {
    sample.flags |= kSampleIncomplete;
    const Status given = sink_.add_sample(sample, {});
    return given ? Result<bool>(true) : given.error();
  }
  if (recorded.truncated || recorded.cut) {
    sample.flags |= kSampleIncomplete;
    lose(recorded.cut ? loss::kStackTooDeep : loss::kTruncatedStacks,
         recorded.cut ? LossKind::kDamage : LossKind::kNotice, offset);
  }
  if (const Status status = give(sample, trace, offset); !status) {
    return status.error();
  }
  return true;
}

Status EventSamples::give(const Sample& sample, std::uint32_t trace, std::uint64_t offset) {
  std::uint64_t& number = traces_[trace];
  if (number == 0) {
    number = ++traces_given_;
  }
  capture::StackMemo memo;
  if (!slots_.empty() && sample.origin == StackOrigin::kRecorded) {
    memo.slot = static_cast<std::uint32_t>(number % capture::StackMemo::kSlots);
    memo.known = slots_[memo.slot] == number;
    slots_[memo.slot] = number;
    if (memo.known) {
      return sink_.add_sample(sample, {}, memo);
    }
  }
  if (const Status status = resolve(trace, offset); !status) {
    return status;
  }
  const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
  return sink_.add_sample(sample, {addresses_, std::span(&run, addresses_.empty() ? 0 : 1)}, memo);
}

// The frames of a trace, leaf first.
Status EventSamples::resolve(std::uint32_t trace, std::uint64_t offset) {
  const TraceRow& recorded = pools_->traces().at(trace);
  addresses_.clear();
  for (const FrameRow& frame :
       std::span(pools_->frames()).subspan(recorded.first, recorded.frames)) {
    const auto [known, fresh] = frames_.try_emplace({frame.method, frame.line}, 0);
    if (fresh) {
      const std::optional<std::uint64_t> address = address_of(frame, offset);
      if (!address) {
        return Error{ErrorCode::kLimit, offset, "jfr: too many names"};
      }
      known->second = *address;
    }
    addresses_.push_back(known->second);
  }
  return {};
}

std::optional<std::uint64_t> EventSamples::address_of(const FrameRow& frame, std::uint64_t offset) {
  capture::FunctionFact fact;
  const MethodRow* const method = pools_->methods().find(frame.method);
  if (method == nullptr) {
    if (frame.method != 0) {
      lose(loss::kUnknownConstant, LossKind::kDamage, offset);
    }
    fact.name = "[unknown]";
    return names_.address_of(fact);
  }
  const std::string_view owner = pools_->class_name(method->type);
  const std::string_view symbol = pools_->symbol(method->name);
  const std::string_view descriptor = pools_->symbol(method->descriptor);
  // async-profiler gives functions that are not of Java this descriptor, which Java has not, and
  // the library for their class.
  if (descriptor.empty() || descriptor == "()L;") {
    fact.name = symbol.empty() ? std::string_view("[unknown]") : symbol;
    return names_.address_of(fact, {owner});
  }
  linkage_.assign(owner);
  linkage_ += owner.empty() ? "" : ".";
  linkage_ += symbol;
  name_ = linkage_;
  std::replace(name_.begin(), name_.end(), '/', '.');
  linkage_ += descriptor;
  fact.name = name_;
  fact.linkage = linkage_;
  fact.code.line = frame.line <= kMostLine ? frame.line : 0;
  return names_.address_of(fact);
}

void EventSamples::find_thread(const Type& type, const ValueRow& row, Sample& sample,
                               std::uint64_t offset) {
  const Slot slot = type.has(Slot::kSampledThread) ? Slot::kSampledThread : Slot::kEventThread;
  sample.pid = pid_;
  const std::uint64_t key = row.number(slot);
  if (key == 0) {
    return;
  }
  const ThreadRow* const thread = pools_->threads().find(key);
  if (thread == nullptr) {
    lose(loss::kUnknownThread, LossKind::kNotice, offset);
    return;
  }
  sample.tid = thread->os_id != 0 && thread->os_id < kVirtualThread
                   ? static_cast<std::uint32_t>(thread->os_id)
                   : kVirtualThread | static_cast<std::uint32_t>(thread->java_id % 0x7FFF'FFFF);
  std::string& name = thread_names_[sample.tid];
  if (!thread->name.empty() && name != thread->name) {
    // The first name holds for all of the capture before the next one.
    sink_.system().thread_named(pid_, sample.tid, name.empty() ? kUnknownTime : sample.time_ns,
                                thread->name);
    name = thread->name;
  }
}

}  // namespace stackpack::jfr
