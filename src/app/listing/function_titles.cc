#include "app/listing/function_titles.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "capture/memory_name.h"
#include "query/function_pattern.h"
#include "query/selection/file_name.h"
#include "symbols/name_parts.h"

namespace stackpack::app {

namespace {

using symbols::NameDetail;
using symbols::NamePart;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

// Characters of three bytes and more, from U+1100 on, may be wide.
std::size_t columns_of_character(char first) {
  return static_cast<unsigned char>(first) >= 0xE1 ? 2 : 1;
}

// What stands around the name.
struct TitleParts {
  std::string before;
  std::string behind;

  [[nodiscard]] std::size_t columns() const { return columns_of(before) + columns_of(behind); }
};

// The end of a text says more than its beginning: of a path the file and the line.
std::string end_of(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) {
    return std::string(text);
  }
  constexpr std::string_view kCut = "...";
  std::size_t begin = 0;
  for (std::size_t columns = columns_of(text) + kCut.size(); columns > width;) {
    if (begin == text.size()) {
      break;
    }
    columns -= columns_of_character(text[begin]);
    do {
      ++begin;
    } while (begin < text.size() && continues(text[begin]));
  }
  return std::string(kCut.substr(0, width)).append(text.substr(begin));
}

TitleParts frame_of(const FunctionTitle& title, std::size_t width) {
  TitleParts frame;
  // Half of the room for one of them, a third for each of two.
  const bool both = !title.module.empty() && !title.place.empty();
  const std::size_t most = width == kAnyWidth ? kAnyWidth : width / (both ? 3 : 2) - 1;
  if (!title.module.empty()) {
    frame.before = cut_to(title.module, most) + '!';
  }
  if (!title.place.empty()) {
    frame.behind = " at " + end_of(title.place, most);
  }
  return frame;
}

// The longest form that fits: whole namespaces are left out, then the end.
std::string fitted(std::string_view name, NameDetail detail, std::size_t room) {
  const std::vector<NamePart> parts = symbols::name_parts(name, detail);
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].starts) {
      text = symbols::text_of_parts(name, std::span(parts).subspan(i));
      if (columns_of(text) <= room) {
        return text;
      }
    }
  }
  return cut_to(text, room);
}

auto key_of(const FunctionTitle& title) {
  return std::tuple(title.name, title.module, title.place);
}

// Texts that different rows have in common get a number; one that nothing else has.
void tell_apart(std::span<const FunctionTitle> titles, std::vector<std::string>& texts,
                std::size_t width) {
  std::map<std::string, const FunctionTitle*, std::less<>> owners;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::string text = texts[i];
    for (std::size_t number = 2;; ++number) {
      const auto [owner, fresh] = owners.try_emplace(text, &titles[i]);
      if (fresh || key_of(*owner->second) == key_of(titles[i])) {
        break;
      }
      const std::string suffix = '#' + std::to_string(number);
      text = cut_to(texts[i], width == kAnyWidth ? width : width - suffix.size()) + suffix;
    }
    texts[i] = std::move(text);
  }
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) {
    columns += continues(c) ? 0 : columns_of_character(c);
  }
  return columns;
}

std::string cut_to(std::string_view text, std::size_t width) {
  constexpr std::string_view kCut = "...";
  if (width == kAnyWidth || columns_of(text) <= width) {
    return std::string(text);
  }
  const std::size_t room = width - std::min(width, kCut.size());
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size();) {
    columns += columns_of_character(text[end]);
    if (columns > room) {
      break;
    }
    do {
      ++end;
    } while (end < text.size() && continues(text[end]));
  }
  return std::string(text.substr(0, end)).append(kCut.substr(0, width));
}

std::vector<std::string> function_titles(std::span<const FunctionTitle> titles, FunctionNames names,
                                         std::size_t width) {
  std::vector<NameDetail> details(titles.size(), NameDetail::kWhole);
  if (names == FunctionNames::kShort) {
    std::vector<std::string_view> all;
    all.reserve(titles.size());
    for (const FunctionTitle& title : titles) {
      all.push_back(title.name);
    }
    details = symbols::distinct_details(all);
  }
  std::vector<std::string> texts;
  texts.reserve(titles.size());
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const TitleParts frame = frame_of(titles[i], width);
    const std::size_t room = width == kAnyWidth ? width : width - std::min(width, frame.columns());
    texts.push_back(frame.before + fitted(titles[i].name, details[i], room) + frame.behind);
  }
  tell_apart(titles, texts, width);
  return texts;
}

std::string function_id(std::string_view name, std::string_view module) {
  return query::function_id(name, module);
}

std::string function_id(const CodeLocation& location) {
  const bool has_image =
      location.module != nullptr &&
      !(location.function != nullptr && location.function->owner == FunctionOwner::kProcess &&
        capture::is_memory_name(location.module->path));
  return query::function_id(location.name,
                            has_image ? query::file_name_of(*location.module) : std::string_view());
}

std::string callstack_id(std::string_view names) {
  return query::function_id(names, "");
}

}  // namespace stackpack::app
