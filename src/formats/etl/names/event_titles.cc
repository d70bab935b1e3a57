#include "formats/etl/names/event_titles.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "formats/etl/event/windows_text.h"

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

// Provider, task and opcode; what says nothing is left out. Empty: there is no task.
std::string title(std::string_view provider, std::string_view task, std::string_view opcode) {
  constexpr std::string_view kWindows = "win:";
  if (task.empty()) {
    return {};
  }
  std::string name(provider);
  name += '/';
  name += task;
  if (opcode.starts_with(kWindows)) {
    opcode.remove_prefix(kWindows.size());
  }
  if (!opcode.empty() && opcode != "Info") {
    name += '/';
    name += opcode;
  }
  return name;
}

std::string without_entities(std::string_view text) {
  struct Entity {
    std::string_view code;
    char character;
  };
  constexpr Entity kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string plain;
  while (!text.empty()) {
    const auto* const entity =
        std::find_if(std::begin(kEntities), std::end(kEntities),
                     [&](const Entity& one) { return text.starts_with(one.code); });
    const bool found = entity != std::end(kEntities);
    plain.push_back(found ? entity->character : text.front());
    text.remove_prefix(found ? entity->code.size() : 1);
  }
  return plain;
}

// The value of an attribute of an XML tag, `tag` being what is between its brackets.
std::string attribute(std::string_view tag, std::string_view name) {
  for (std::size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
    const std::size_t equals = at + name.size();
    const bool whole = at > 0 && (tag[at - 1] == ' ' || tag[at - 1] == '\t' ||
                                  tag[at - 1] == '\n' || tag[at - 1] == '\r');
    if (!whole || equals + 1 >= tag.size() || tag[equals] != '=' ||
        (tag[equals + 1] != '"' && tag[equals + 1] != '\'')) {
      continue;
    }
    const std::string_view rest = tag.substr(equals + 2);
    const std::size_t end = rest.find(tag[equals + 1]);
    return end == std::string_view::npos ? std::string() : without_entities(rest.substr(0, end));
  }
  return {};
}

// Takes the next tag of `text`; nothing at the end.
std::optional<std::string_view> next_tag(std::string_view& text) {
  const std::size_t begin = text.find('<');
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = text.find('>', begin);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view tag = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  return tag;
}

bool is_tag(std::string_view tag, std::string_view name) {
  return tag.starts_with(name) && tag.size() > name.size() &&
         (tag[name.size()] == ' ' || tag[name.size()] == '\t' || tag[name.size()] == '\n' ||
          tag[name.size()] == '\r');
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
      title(provider_name.empty() ? text_of(provider) : provider_name, task, opcode_name);
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
      const std::string number = attribute(*tag, "value");
      std::uint16_t id = 0;
      const char* const end = number.data() + number.size();
      if (std::from_chars(number.data(), end, id).ptr != end || number.empty()) {
        continue;
      }
      const std::string task = attribute(*tag, "task");
      name_event({EventClass::kProvider, key_of(guid), id},
                 title(provider, task.empty() ? attribute(*tag, "symbol") : task,
                       attribute(*tag, "opcode")));
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
