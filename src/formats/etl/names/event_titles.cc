#include "formats/etl/names/event_titles.h"

#include <optional>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "formats/etl/event/provider_names.h"
#include "formats/etl/event/windows_text.h"
#include "formats/etl/names/event_schemas.h"
#include "formats/etl/names/manifest_text.h"

namespace stackpack::etl {

namespace {

constexpr std::uint16_t kSchemaItem = 0x0B;
constexpr std::uint16_t kTraitsItem = 0x0C;

// The text at `offset` in a TRACE_EVENT_INFO. 0 stands for none.
std::string text_at(const bytes::ByteCursor& info, std::uint32_t offset) {
  if (offset == 0) {
    return {};
  }
  bytes::ByteCursor in = info;
  in.seek(offset);
  std::string text = in.ok() ? read_wide_text(in) : std::string();
  while (!text.empty() && text.back() == ' ') {  // the recorder pads some of them
    text.pop_back();
  }
  return text;
}

}  // namespace

void EventTitles::name_provider(const Guid& guid, std::string_view name) {
  if (!name.empty() && bytes_ + name.size() <= kMostBytes &&
      providers_.emplace(key_of(guid), name).second) {
    bytes_ += name.size();
  }
}

void EventTitles::name_event(const Key& key, std::string title) {
  const std::size_t size = title.size();
  if (size != 0 && bytes_ + size <= kMostBytes && events_.emplace(key, std::move(title)).second) {
    bytes_ += size;
  }
}

void EventTitles::event_info(const EventView& event) {
  constexpr std::uint32_t kClassSource = 1;  // the names come from the class of a MOF file
  constexpr std::uint32_t kInfo = 32;
  if (event.type != kInfo) {
    return;
  }
  const bytes::ByteCursor info(event.payload, event.position);
  bytes::ByteCursor in = info;
  const Guid provider = read_guid(in);
  const Guid event_class = read_guid(in);
  const auto id = in.read<std::uint16_t>();
  in.skip(3);  // version, channel, level
  const auto opcode = in.read<std::uint8_t>();
  in.skip(10);  // task, keyword
  const auto source = in.read<std::uint32_t>();
  const std::string provider_name = text_at(info, in.read<std::uint32_t>());
  in.skip(12);  // names of level, channel and keywords
  const std::string task = text_at(info, in.read<std::uint32_t>());
  const std::string opcode_name = text_at(info, in.read<std::uint32_t>());
  if (!in.ok()) {
    return;
  }
  name_provider(provider, provider_name);
  std::string name =
      event_title(provider_name.empty() ? text_of(provider) : provider_name, task, opcode_name);
  if (schemas_ != nullptr) {
    learn_event_info(event, provider_name, name, *schemas_);
  }
  if (source == kClassSource) {
    name_event({EventClass::kClass, key_of(event_class), opcode}, std::move(name));
  } else {
    name_event({EventClass::kProvider, key_of(provider), id}, std::move(name));
  }
}

void EventTitles::manifest_piece(const EventView& event) {
  constexpr std::uint8_t kFormat = 1;
  constexpr std::uint8_t kMagic = 0x5B;
  bytes::ByteCursor in(event.payload, event.position);
  const auto format = in.read<std::uint8_t>();
  in.skip(2);
  const auto magic = in.read<std::uint8_t>();
  const auto pieces = in.read<std::uint16_t>();
  const auto piece = in.read<std::uint16_t>();
  const GuidKey key = key_of(event.guid);
  if (!in.ok() || format != kFormat || magic != kMagic || piece >= pieces) {
    return;
  }
  const auto begun = manifests_.find(key);
  const std::uint32_t wanted = begun == manifests_.end() ? 0 : begun->second.next_piece;
  if (piece != wanted || manifest_bytes_ + in.remaining() > kMostManifestBytes) {
    if (begun != manifests_.end()) {  // it will come again
      manifest_bytes_ -= begun->second.text.size();
      manifests_.erase(begun);
    }
    return;
  }
  Manifest& manifest = manifests_[key];
  manifest.text += bytes::text_of(in.rest());
  manifest_bytes_ += in.remaining();
  ++manifest.next_piece;
  if (manifest.next_piece == pieces) {
    read_manifest(event.guid, manifest.text);
    if (schemas_ != nullptr) {
      learn_manifest(event.guid, manifest.text, *schemas_);
    }
    manifest_bytes_ -= manifest.text.size();
    manifests_.erase(key);
  }
}

void EventTitles::read_manifest(const Guid& guid, std::string_view text) {
  std::string provider = text_of(guid);
  while (const std::optional<std::string_view> tag = next_tag(text)) {
    if (is_tag(*tag, "provider")) {
      if (std::string name = attribute(*tag, "name"); !name.empty()) {
        name_provider(guid, name);
        provider = std::move(name);
      }
    } else if (is_tag(*tag, "event")) {
      if (const auto id = number_of(attribute(*tag, "value"))) {
        name_event({EventClass::kProvider, key_of(guid), *id},
                   manifest_event_title(provider, *tag));
      }
    }
  }
}

std::string EventTitles::trace_logging_title(const EventView& event) {
  std::string_view name;
  std::string_view provider;
  ExtendedItems items(event.extended);
  for (ExtendedItem item; items.next(item);) {
    if (item.type != kSchemaItem && item.type != kTraitsItem) {
      continue;
    }
    bytes::ByteCursor in(item.data, event.position);
    in.skip(2);  // size
    if (item.type == kTraitsItem) {
      provider = in.read_c_string();
      continue;
    }
    while ((in.read<std::uint8_t>() & 0x80) != 0) {
    }
    name = in.read_c_string();
  }
  name_provider(event.guid, provider);
  if (name.empty()) {
    return {};
  }
  std::string whole(provider);
  if (provider.empty()) {
    const auto known = providers_.find(key_of(event.guid));
    whole = known == providers_.end() ? text_of(event.guid) : known->second;
  }
  whole += '/';
  whole += name;
  return whole;
}

std::string EventTitles::provider_of(const Guid& guid) const {
  const auto known = providers_.find(key_of(guid));
  return known == providers_.end() ? std::string(provider_name(guid)) : known->second;
}

std::string EventTitles::title_of(const EventKind& kind) const {
  if (kind.cls == EventClass::kKernel) {
    return {};
  }
  const bool of_provider = kind.cls == EventClass::kProvider;
  const std::uint16_t id = of_provider ? kind.id : std::uint16_t{kind.type};
  if (const auto event = events_.find({kind.cls, key_of(kind.guid), id}); event != events_.end()) {
    return event->second;
  }
  const auto provider = providers_.find(key_of(kind.guid));
  return provider == providers_.end()
             ? std::string()
             : provider->second + (of_provider ? "/id" : "/op") + std::to_string(id);
}

}  // namespace stackpack::etl
