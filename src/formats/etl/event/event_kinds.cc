#include "formats/etl/event/event_kinds.h"

#include "formats/dotnet/runtime_events.h"
#include "formats/dotnet/runtime_values.h"
#include "formats/etl/event/etl_event_names.h"
#include "formats/etl/event/provider_names.h"
#include "formats/etl/kernel_values.h"

namespace stackpack::etl {

namespace {

constexpr Guid kImageIdClass = make_guid(0xb3e675d7, 0x2554, 0x4f18, 0x830b, 0x2762732560de);
constexpr Guid kSystemConfigClass = make_guid(0x9b79ee91, 0xb5fd, 0x41c0, 0xa243, 0x4248e266e9d0);
constexpr Guid kImageExtraClass = make_guid(0xbbccf6c1, 0x6cd1, 0x48c4, 0x80ff, 0x839482e37671);
constexpr Guid kRuntime = make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
constexpr Guid kPrivateRuntime = make_guid(0x763fd754, 0x7086, 0x4dfe, 0x95eb, 0xc01a46faf4ca);
constexpr Guid kClassicStack = make_guid(0xd3363dc0, 0x243a, 0x4620, 0xa4d0, 0x8a07d772f533);
constexpr std::uint8_t kClassicRuntime = 2;
constexpr std::uint8_t kClrStackWalk = 82;
constexpr std::uint16_t kManifestId = 65534;

EventRole stack_walk_role(std::uint8_t type) {
  switch (type) {
    case 32:
      return EventRole::kStackInline;
    case 34:
    case 35:
    case 36:
      return EventRole::kStackDefinition;
    case 37:
      return EventRole::kStackRefKernel;
    case 38:
      return EventRole::kStackRefUser;
    default:
      return EventRole::kIgnored;
  }
}

EventRole perf_info_role(std::uint8_t type) {
  switch (type) {
    case 46:
      return EventRole::kProfile;
    case 47:
      return EventRole::kCounterProfile;
    case 48:
    case 74:
      return EventRole::kIgnored;
    case 73:
      return EventRole::kInterval;
    default:
      return EventRole::kPlain;
  }
}

EventRole thread_role(std::uint8_t type) {
  switch (type) {
    case 1:
    case 2:
    case 3:
    case 4:
      return EventRole::kThread;
    case 36:
      return EventRole::kContextSwitch;
    case 50:
      return EventRole::kReadyThread;
    case 72:
      return EventRole::kThreadName;
    default:
      return EventRole::kPlain;
  }
}

EventRole process_role(std::uint8_t type) {
  if ((type >= 1 && type <= 4) || type == 39) {
    return EventRole::kProcess;
  }
  return type == 10 ? EventRole::kImage : EventRole::kPlain;
}

EventRole kernel_role(std::uint8_t group, std::uint8_t type) {
  switch (group) {
    case kGroupEventTrace:
      return EventRole::kIgnored;
    case kGroupProcess:
      return process_role(type);
    case kGroupThread:
      return thread_role(type);
    case kGroupConfig:
      return EventRole::kHardwareConfig;
    case kGroupPerfInfo:
      return perf_info_role(type);
    case kGroupImage:
      return (type >= 2 && type <= 4) || type == 10 ? EventRole::kImage : EventRole::kPlain;
    case kGroupStackWalk:
      return stack_walk_role(type);
    default:
      return EventRole::kPlain;
  }
}

EventRole role_of(const EventView& event, std::uint8_t& runtime) {
  runtime = kNoRuntime;
  switch (event.cls) {
    case EventClass::kKernel:
      return kernel_role(event.group, event.type);
    case EventClass::kProvider:
      if (event.guid == kRuntime || event.guid == kPrivateRuntime) {
        runtime = event.guid == kRuntime ? 0 : 1;
        return EventRole::kClr;
      }
      return event.id == kManifestId ? EventRole::kManifest : EventRole::kPlain;
    case EventClass::kClass:
      if (event.guid == kImageIdClass) {
        return EventRole::kImageId;
      }
      if (event.guid == kSystemConfigClass) {
        return EventRole::kSystemConfig;
      }
      if (event.guid == kImageExtraClass) {
        return EventRole::kEventInfo;
      }
      runtime = kClassicRuntime;
      return event.guid == kClassicStack && event.type == kClrStackWalk
                 ? EventRole::kClassicClrStack
                 : EventRole::kPlain;
  }
  return EventRole::kPlain;
}

// Whether the content of events of a kind is read.
bool is_kept(const EventView& event, const EventUse& use) {
  switch (use.role) {
    case EventRole::kPlain:
    case EventRole::kIgnored:
    case EventRole::kClr:
      return use.method != MethodRole::kNone ||
             (use.role == EventRole::kClr && event.id == kClrStackWalk) ||
             (use.role == EventRole::kIgnored && event.group == kGroupEventTrace &&
              event.type == 0);  // the header of the file
    case EventRole::kContextSwitch:
    case EventRole::kReadyThread:
      return false;
    case EventRole::kHardwareConfig:
      return event.type == kCpuConfig;
    case EventRole::kImageId:
      return event.type == kRsds;
    case EventRole::kSystemConfig:
      return event.type == kBuildInfo || event.type == kSystemPaths || event.type == kVolume;
    default:
      return true;
  }
}

EventUse use_of(const EventView& event) {
  EventUse use;
  use.role = role_of(event, use.runtime);
  use.method = method_role(event);
  use.valued = (event.cls == EventClass::kKernel && KernelValues::wants(event.group, event.type)) ||
               (event.cls == EventClass::kProvider && event.guid == kRuntime &&
                dotnet::RuntimeValues::wants(event.id));
  use.weighted = use.valued && event.cls == EventClass::kProvider && dotnet::weighs_bytes(event.id);
  use.kept = is_kept(event, use);
  return use;
}

std::uint64_t hash_of(EventClass cls, std::uint8_t group, std::uint8_t type, std::uint16_t version,
                      std::uint16_t id, const Guid& guid) {
  const std::uint64_t packed = (std::uint64_t{static_cast<std::uint8_t>(cls)} << 48) |
                               (std::uint64_t{id} << 32) | (std::uint64_t{version} << 16) |
                               (std::uint64_t{group} << 8) | type;
  if (cls == EventClass::kKernel) {
    return core::mix_bits(packed);
  }
  return core::mix_bits(packed ^ guid.low) ^ core::mix_bits(guid.high);
}

bool same_kind(const EventKind& kind, const EventView& event) {
  if (kind.cls != event.cls || kind.type != event.type || kind.version != event.version) {
    return false;
  }
  switch (event.cls) {
    case EventClass::kKernel:
      return kind.group == event.group;
    case EventClass::kClass:
      return kind.guid == event.guid;
    case EventClass::kProvider:
      return kind.id == event.id && kind.guid == event.guid;
  }
  return false;
}

// Traces call events of the runtime by what their machine knew, or do not: one name for all.
std::string runtime_event_name(const EventKind& kind) {
  if (kind.cls != EventClass::kProvider ||
      (kind.guid != kRuntime && kind.guid != kPrivateRuntime)) {
    return {};
  }
  const bool is_private = kind.guid == kPrivateRuntime;
  const std::string_view name = dotnet::event_name(
      is_private ? dotnet::Provider::kPrivate : dotnet::Provider::kRuntime, kind.id);
  return name.empty() ? std::string()
                      : (is_private ? "Microsoft-Windows-DotNETRuntimePrivate/"
                                    : "Microsoft-Windows-DotNETRuntime/") +
                            std::string(name);
}

// The name of a provider where it is well known, else its GUID.
std::string title_of(const Guid& guid) {
  const std::string_view name = provider_name(guid);
  return name.empty() ? text_of(guid) : std::string(name);
}

}  // namespace

EventKinds::EventKinds() {
  kinds_.resize(2);
}

std::uint32_t EventKinds::look_up(const EventView& event, EventUse& use) {
  if (last_ <= kOtherKind || !same_kind(kinds_[last_], event)) {
    const std::uint64_t hash =
        hash_of(event.cls, event.cls == EventClass::kKernel ? event.group : 0, event.type,
                event.version, event.cls == EventClass::kProvider ? event.id : 0, event.guid);
    const std::uint32_t found =
        table_.find(hash, [&](std::uint32_t index) { return same_kind(kinds_[index], event); });
    last_ = found != core::IndexTable::kNone ? found : add(event, hash);
  }
  EventKind& kind = kinds_[last_];
  ++kind.count;
  use = last_ == kOtherKind ? use_of(event) : kind.use;
  return last_;
}

std::uint32_t EventKinds::add(const EventView& event, std::uint64_t hash) {
  if (kinds_.size() == kMaxKinds) {
    return kOtherKind;
  }
  EventKind kind;
  kind.cls = event.cls;
  kind.type = event.type;
  kind.version = event.version;
  if (event.cls == EventClass::kKernel) {
    kind.group = event.group;
  } else {
    kind.guid = event.guid;
    kind.id = event.cls == EventClass::kProvider ? event.id : std::uint16_t{0};
  }
  kind.use = use_of(event);
  const auto number = static_cast<std::uint32_t>(kinds_.size());
  kinds_.push_back(kind);
  table_.insert(hash, number, [this](std::uint32_t index) {
    const EventKind& other = kinds_[index];
    return hash_of(other.cls, other.group, other.type, other.version, other.id, other.guid);
  });
  return number;
}

std::uint32_t EventKinds::of_counter(std::uint32_t kind, std::uint16_t source) {
  const auto found = kind_of_source_.find(source);
  if (found != kind_of_source_.end()) {
    return found->second;
  }
  if (kind == kOtherKind || kinds_.size() == kMaxKinds) {
    return kind;
  }
  EventKind one = kinds_[kind];
  one.id = source;
  one.one_source = true;
  one.count = 0;  // `kind` has counted them
  one.known_to_sink = false;
  if (const auto name = counter_names_.find(source); name != counter_names_.end()) {
    one.counter = name->second;
  }
  const auto number = static_cast<std::uint32_t>(kinds_.size());
  kinds_.push_back(std::move(one));
  kind_of_source_.emplace(source, number);
  return number;
}

std::uint32_t EventKinds::of_title(std::uint32_t kind, std::string_view title) {
  if (kind == kOtherKind || kinds_[kind].title == title) {
    return kind;
  }
  if (kinds_[kind].title.empty()) {
    if (name_bytes_ + title.size() <= kMaxNameBytes) {
      name_bytes_ += title.size();
      kinds_[kind].title = title;
    }
    return kind;
  }
  const auto found = kind_of_title_.find({kind, std::string(title)});
  if (found != kind_of_title_.end()) {
    return found->second;
  }
  if (kinds_.size() == kMaxKinds || name_bytes_ + title.size() > kMaxNameBytes) {
    return kind;
  }
  name_bytes_ += title.size();
  EventKind one = kinds_[kind];
  one.title = title;
  one.one_title = true;
  one.count = 0;  // `kind` has counted them
  one.known_to_sink = false;
  const auto number = static_cast<std::uint32_t>(kinds_.size());
  kinds_.push_back(std::move(one));
  kind_of_title_.emplace(std::pair(kind, std::string(title)), number);
  return number;
}

void EventKinds::name_counter(std::uint16_t source, std::string name) {
  if (const auto known = counter_names_.find(source); known != counter_names_.end()) {
    name_bytes_ -= known->second.size();
    counter_names_.erase(known);
  }
  if (name_bytes_ + name.size() > kMaxNameBytes) {
    return;
  }
  if (const auto kind = kind_of_source_.find(source); kind != kind_of_source_.end()) {
    kinds_[kind->second].counter = name;
  }
  if (counter_names_.size() < kMaxKinds) {
    name_bytes_ += name.size();
    counter_names_[source] = std::move(name);
  }
}

std::map<std::string, std::uint64_t> EventKinds::counts() const {
  std::map<std::string, std::uint64_t> result;
  for (std::size_t i = kOtherKind; i < kinds_.size(); ++i) {
    const EventKind& kind = kinds_[i];
    if (kind.one_source || kind.one_title) {
      continue;
    }
    if (i == kOtherKind) {
      if (kind.count != 0) {
        result["other"] = kind.count;
      }
      continue;
    }
    const std::string version = "/v" + std::to_string(kind.version);
    std::string key;
    switch (kind.cls) {
      case EventClass::kKernel:
        key = group_name(kind.group) + "/" + std::to_string(kind.type) + version;
        break;
      case EventClass::kProvider:
        key = text_of(kind.guid) + "/id" + std::to_string(kind.id) + "/op" +
              std::to_string(kind.type) + version;
        break;
      case EventClass::kClass:
        key = text_of(kind.guid) + "/op" + std::to_string(kind.type) + version;
        break;
    }
    result[key] += kind.count;
  }
  return result;
}

std::string name_of(const EventKind& kind, std::uint32_t number) {
  if (number == EventKinds::kUnknownKind) {
    return "unknown";
  }
  if (number == EventKinds::kOtherKind) {
    return "other";
  }
  if (std::string name = runtime_event_name(kind); !name.empty()) {
    return name;
  }
  if (!kind.title.empty()) {
    return kind.title;
  }
  switch (kind.cls) {
    case EventClass::kKernel: {
      std::string name = kernel_event_name(kind.group, kind.type);
      if (kind.one_source) {
        name += '/';
        name += kind.counter.empty() ? "source " + std::to_string(kind.id) : kind.counter;
      }
      return name;
    }
    case EventClass::kProvider:
      return title_of(kind.guid) + "/id" + std::to_string(kind.id);
    case EventClass::kClass:
      return title_of(kind.guid) + "/op" + std::to_string(kind.type);
  }
  return "unknown";
}

}  // namespace stackpack::etl
