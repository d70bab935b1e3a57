#include "formats/etl/names/event_payloads.h"

#include "formats/dotnet/event_fields.h"
#include "formats/etl/event/provider_names.h"
#include "formats/etl/names/event_schemas.h"

namespace stackpack::etl {

// By its name or its GUID. Nothing is asked of a provider more often than once.
bool EventPayloads::wants(const Guid& guid, std::string_view provider) {
  constexpr std::size_t kMostProviders = std::size_t{1} << 16;
  const std::pair key(guid.low, guid.high);
  if (const auto known = wanted_.find(key); known != wanted_.end()) {
    return known->second;
  }
  const bool wants = (!provider.empty() && sink_->wants(provider)) || sink_->wants(text_of(guid));
  if (wanted_.size() < kMostProviders && (wants || !provider.empty())) {
    wanted_.emplace(key, wants);
  }
  return wants;
}

// Of events of the .NET runtime; null of others.
const capture::PayloadSchema* EventPayloads::runtime_fields(std::string_view provider,
                                                            std::uint16_t id, unsigned version) {
  const dotnet::Provider runtime = dotnet::provider_named(provider);
  if (runtime == dotnet::Provider::kOther) {
    return nullptr;
  }
  if (runtime_fields_.size() == kMostRuntimeEvents) {
    runtime_fields_.clear();  // damage: the runtime does not have so many
  }
  const auto [known, fresh] = runtime_fields_.try_emplace({runtime, id, version});
  if (fresh) {
    known->second = dotnet::event_fields(runtime, id, version);
  }
  return &known->second;
}

Status EventPayloads::event(const EventView& event, const EventKind& kind) {
  if (event.cls == EventClass::kKernel || kind.use.role == EventRole::kEventInfo ||
      kind.use.role == EventRole::kManifest) {
    return {};
  }
  const std::string traced =
      event.extended.empty() ? std::string() : titles_.trace_logging_title(event);
  const std::uint16_t id = event.cls == EventClass::kProvider ? event.id : event.type;
  const capture::DescribedEvent* const described =
      sink_->schemas().find(schema_key(event.guid, id, event.version));
  const std::string provider = described != nullptr && !described->provider.empty()
                                   ? described->provider
                                   : titles_.provider_of(event.guid);
  if (!wants(event.guid, provider)) {
    return {};
  }
  capture::PayloadSchema own;
  capture::PayloadEvent out;
  out.time_ns = clock_.unix_ns(event.clock);
  out.pid = event.pid == kNoId ? kUnknownId : event.pid;
  out.tid = event.tid == kNoId ? kUnknownId : event.tid;
  out.payload = event.payload;
  out.pointer_size = event.pointer_size;
  EventKind named = kind;
  if (!traced.empty()) {
    own = trace_logging_schema(event);
    out.schema = &own;
    named.title = traced;
  } else if (described != nullptr) {
    out.schema = &described->schema;
    named.title = described->name;
  } else if (event.cls == EventClass::kProvider) {
    out.schema = runtime_fields(provider, id, event.version);
  }
  if (named.title.empty()) {
    named.title = titles_.title_of(kind);
  }
  const std::string name = name_of(named, ~std::uint32_t{0});
  const std::string known = provider.empty() ? text_of(event.guid) : provider;
  out.name = name;
  out.provider = known;
  return sink_->event(out);
}

}  // namespace stackpack::etl
