#include "formats/nettrace/event_uses.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "bytes/byte_cursor.h"
#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

EventRole role_of_metadata(const EventMetadata& metadata) {
  if (dotnet::is_module_event(metadata.provider, metadata.event)) {
    return EventRole::kModule;
  }
  if (metadata.provider == dotnet::Provider::kRuntime) {
    switch (metadata.event) {
      case 10:
        return EventRole::kAllocationTick;
      case 91:
        return EventRole::kContentionStop;
      case 303:
        return EventRole::kAllocationSample;
      default:
        return EventRole::kOther;
    }
  }
  const std::string_view provider = metadata.provider_name;
  if (provider == "Microsoft-DotNETCore-SampleProfiler" && metadata.event == 0) {
    return EventRole::kThreadSample;
  }
  if (provider == "Microsoft-DotNETCore-EventPipe" && metadata.event == 1) {
    return EventRole::kProcessInfo;
  }
  if (provider == "Universal.Events") {
    return EventRole::kUniversalSample;
  }
  return provider == "Universal.System" ? EventRole::kUniversalSystem : EventRole::kOther;
}

}  // namespace

EventUse use_of(EventMetadata metadata) {
  EventUse use;
  use.role = role_of_metadata(metadata);
  use.valued = metadata.provider == dotnet::Provider::kRuntime &&
               dotnet::RuntimeValues::wants(metadata.event);
  use.handle_wait = metadata.provider == dotnet::Provider::kRuntime
                        ? dotnet::handle_wait(metadata.event)
                        : dotnet::HandleWait::kNone;
  use.bookkeeping = dotnet::is_bookkeeping(metadata.provider, metadata.event);
  if (const auto news = dotnet::method_news(metadata.provider, metadata.event)) {
    use.role = EventRole::kMethod;
    use.news = *news;
  }
  use.metadata = std::move(metadata);
  return use;
}

std::string event_title(const EventUse& use, std::uint32_t type) {
  if (use.role == EventRole::kThreadSample) {
    switch (type) {
      case kSampleExternal:
        return "External";
      case kSampleManaged:
        return "Managed";
      case kSampleError:
        return use.metadata.title() + " Error";
      default:
        return use.metadata.title();
    }
  }
  const bool is_known_sample = use.role == EventRole::kUniversalSample &&
                               (use.metadata.name == "cpu" || use.metadata.name == "cswitch");
  return is_known_sample ? use.metadata.name : use.metadata.title();
}

bool is_switch(const EventUse& use) {
  return use.role == EventRole::kUniversalSample && use.metadata.name == "cswitch";
}

bool has_weight(const EventUse& use) {
  return use.role == EventRole::kAllocationTick || use.role == EventRole::kAllocationSample ||
         use.role == EventRole::kContentionStop || is_switch(use);
}

std::optional<std::uint64_t> weight_in(const EventUse& use, std::span<const std::byte> payload,
                                       unsigned pointer_size) {
  bytes::ByteCursor in(payload, 0);
  std::uint64_t weight = 1;
  switch (use.role) {
    case EventRole::kAllocationTick:
    case EventRole::kAllocationSample:
      return dotnet::allocated_bytes(use.metadata.event, payload, pointer_size);
    case EventRole::kContentionStop: {
      constexpr double kMostNs = 1e18;
      in.skip(3);
      const auto ns = std::bit_cast<double>(in.read<std::uint64_t>());
      weight = ns >= 0 ? static_cast<std::uint64_t>(std::min(ns, kMostNs)) : 0;
      break;
    }
    case EventRole::kUniversalSample:
      if (is_switch(use)) {
        weight = in.read_varint();
      }
      break;
    default:
      break;
  }
  return in.ok() ? std::optional(weight) : std::nullopt;
}

}  // namespace stackpack::nettrace
