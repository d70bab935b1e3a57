#include "formats/etl/names/manifest_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace stackpack::etl {

namespace {

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

}  // namespace

std::string event_title(std::string_view provider, std::string_view task, std::string_view opcode) {
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

std::optional<std::uint16_t> number_of(std::string_view text) {
  std::uint16_t number = 0;
  const char* const end = text.data() + text.size();
  return text.empty() || std::from_chars(text.data(), end, number).ptr != end
             ? std::nullopt
             : std::optional(number);
}

std::string manifest_event_title(std::string_view provider, std::string_view tag) {
  const std::string task = attribute(tag, "task");
  return event_title(provider, task.empty() ? attribute(tag, "symbol") : task,
                     attribute(tag, "opcode"));
}

}  // namespace stackpack::etl
