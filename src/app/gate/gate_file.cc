// A gate's file, which is TOML. The library's headers take two seconds to compile: this room has
// one source.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#define TOML_UNRELEASED_FEATURES 0
// Arrays of arrays: what a file of people has is not deeper than 2.
#define TOML_MAX_NESTED_VALUES 16

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "app/diff/gate_amount.h"
#include "stackpack/diff.h"

namespace stackpack {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 16;
// A key `a.b.c` is a table in a table, and the library takes a frame of the stack for each to free
// them: together with TOML_MAX_NESTED_VALUES this bounds them.
constexpr std::size_t kMostDots = 100;
constexpr std::int64_t kMostCommits = 1'000'000'000;
constexpr std::string_view kKeys = "fail-if, allow, rename, baseline, last and strict";

constexpr Error kNoGate{ErrorCode::kCorrupt, kNoOffset, "invalid gate file"};

std::string place(const toml::source_position& at) {
  return fmt::format("line {}, column {}", at.line, at.column);
}

std::string_view line_of(std::string_view text, std::size_t number) {
  for (std::size_t line = 1; line < number; ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return text.substr(0, text.find('\n'));
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

class GateFile {
 public:
  GateFile(std::string_view text, std::string& problem) : text_(text), problem_(problem) {}

  Result<GateRules> read() {
    const toml::parse_result parsed = toml::parse(text_);
    if (!parsed) {
      wrong(parsed.error().source().begin, parsed.error().description());
      return kNoGate;
    }
    for (const auto& [key, value] : parsed.table()) {
      if (!take(key, value)) {
        return kNoGate;
      }
    }
    return std::move(rules_);
  }

 private:
  bool wrong(const toml::source_position& at, std::string_view what) {
    problem_ = fmt::format("{}: {}", place(at), what);
    return false;
  }

  bool take(const toml::key& key, const toml::node& value) {
    if (key == "fail-if") {
      return for_each_text(key, value, [this](const auto& text) { return take_condition(text); });
    }
    if (key == "allow") {
      return for_each_text(key, value, [this](const auto& text) { return take_change(text); });
    }
    if (key == "rename") {
      return take_renames(value);
    }
    if (key == "baseline") {
      return take_baseline(value);
    }
    if (key == "last") {
      return take_last(value);
    }
    if (key == "strict") {
      const toml::value<bool>* strict = value.as_boolean();
      rules_.strict = strict != nullptr && strict->get();
      return strict != nullptr || wrong(value.source().begin, "`strict` is true or false");
    }
    return wrong(key.source().begin,
                 fmt::format("unknown key `{}`; there are {}", key.str(), kKeys));
  }

  template <typename Take>
  bool for_each_text(const toml::key& key, const toml::node& value, const Take& take_text) {
    const toml::array* texts = value.as_array();
    if (texts == nullptr) {
      return wrong(value.source().begin, fmt::format("`{}` is an array of texts", key.str()));
    }
    for (const toml::node& node : *texts) {
      const toml::value<std::string>* text = node.as_string();
      if (text == nullptr) {
        return wrong(node.source().begin, fmt::format("`{}` is an array of texts", key.str()));
      }
      if (!take_text(*text)) {
        return false;
      }
    }
    return true;
  }

  // Where character `offset` of a text stands in the file: counted, where it is written as it is.
  [[nodiscard]] toml::source_position place_in(const toml::value<std::string>& text,
                                               std::size_t offset) const {
    toml::source_position at = text.source().begin;
    std::string_view line = line_of(text_, at.line);
    for (std::size_t passed = 0; !line.empty(); line.remove_prefix(1)) {
      passed += begins_character(line.front()) ? 1U : 0U;
      if (passed == at.column) {
        break;
      }
    }
    if (!line.empty() && line.substr(1).starts_with(text.get())) {
      at.column += static_cast<toml::source_index>(
          1 + characters(std::string_view(text.get()).substr(0, offset)));
    }
    return at;
  }

  bool take_condition(const toml::value<std::string>& text) {
    std::string problem;
    std::size_t offset = 0;
    auto condition = parse_gate_condition(text.get(), &problem, &offset);
    if (!condition) {
      return wrong(place_in(text, offset), fmt::format("'{}': {}", text.get(), problem));
    }
    rules_.conditions.push_back(std::move(*condition));
    return true;
  }

  bool take_change(const toml::value<std::string>& text) {
    auto change = app::allowed_change_of(app::without_blanks(text.get()), 0);
    if (!change || change->pattern.empty()) {
      return wrong(text.source().begin,
                   fmt::format("'{}': {}", text.get(),
                               change ? "a change has a PATTERN" : change.error().what));
    }
    rules_.allowed.push_back(std::move(*change));
    return true;
  }

  bool take_renames(const toml::node& value) {
    const toml::table* names = value.as_table();
    if (names == nullptr) {
      return wrong(value.source().begin, "`rename` is a table of OLD = \"NEW\"");
    }
    for (const auto& [before, after] : *names) {
      const toml::value<std::string>* name = after.as_string();
      if (name == nullptr || name->get().empty() || before.str().empty()) {
        return wrong(before.source().begin,
                     fmt::format("`{}`: a rename is \"OLD\" = \"NEW\"; names with dots are quoted",
                                 before.str()));
      }
      rules_.renames.emplace_back(before.str(), name->get());
    }
    return true;
  }

  bool take_baseline(const toml::node& value) {
    const toml::value<std::string>* folder = value.as_string();
    if (folder == nullptr || folder->get().empty() ||
        folder->get().find('\0') != std::string::npos) {
      return wrong(value.source().begin, "`baseline` is the path of a folder");
    }
    rules_.baseline = folder->get();
    return true;
  }

  bool take_last(const toml::node& value) {
    const toml::value<std::int64_t>* last = value.as_integer();
    if (last == nullptr || last->get() < 0 || last->get() > kMostCommits) {
      return wrong(value.source().begin, "`last` is a number of commits, 0 for all");
    }
    rules_.last = static_cast<std::size_t>(last->get());
    return true;
  }

  std::string_view text_;
  std::string& problem_;
  GateRules rules_;
};

}  // namespace

Result<GateRules> parse_gate_rules(std::string_view text, std::string* problem) {
  std::string own;
  std::string& said = problem != nullptr ? *problem : own;
  said.clear();
  if (text.size() > kMostBytes) {
    return Error{ErrorCode::kLimit, kMostBytes, "a gate file is at most 64 KiB"};
  }
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    dots = text[at] == '\n' ? 0 : dots + (text[at] == '.' ? 1 : 0);
    if (dots > kMostDots) {
      return Error{ErrorCode::kLimit, at, "a line of a gate file has at most 100 dots"};
    }
  }
  return GateFile(text, said).read();
}

}  // namespace stackpack
