#include "capture/json_outline.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "bytes/byte_text.h"

namespace stackpack::capture {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kEndsOfWord = " \t\r\n,]}:[{\"";
constexpr std::size_t kMostLevels = 64;      // what follows a deeper one is not looked at
constexpr std::size_t kMostNotedLevels = 5;  // of paths

// A number, or a name that has a meaning; the last word of a text may be cut. `[unknown];main 3` is
// no array.
bool is_word(std::string_view word, bool is_last) {
  constexpr std::string_view kNames[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  return word.find_first_not_of("+-.0123456789eE") == std::string_view::npos ||
         std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) {
           return name == word || (is_last && name.starts_with(word));
         });
}

}  // namespace

// One pass over the text. Each level is an object or an array, and knows where its path ends.
class JsonOutline::Scan {
 public:
  Scan(JsonOutline& outline, std::string_view text) : outline_(outline), rest_(text) {}

  // False: the text is no JSON.
  bool run() {
    skip_spaces();
    if (rest_.empty() || (rest_.front() != '{' && rest_.front() != '[')) {
      return false;
    }
    while (!rest_.empty() && !outline_.is_whole_) {
      if (!step()) {
        return is_cut_;
      }
      skip_spaces();
    }
    return true;
  }

 private:
  struct Level {
    bool is_object = false;
    bool wants_key = false;
    std::size_t path = 0;  // bytes of path_ that belong to it
  };

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpaces), rest_.size()));
  }

  // Takes the next token. False where the grammar or the text ends.
  bool step() {
    switch (rest_.front()) {
      case '{':
      case '[':
        return open();
      case '}':
      case ']':
        return close();
      case ',':
        rest_.remove_prefix(1);
        levels_.back().wants_key = levels_.back().is_object;
        return true;
      case '"':
        return levels_.back().wants_key ? take_key() : take_value(take_string());
      default:
        return !levels_.back().wants_key && take_value(take_word());
    }
  }

  bool open() {
    is_cut_ = is_cut_ || levels_.size() >= kMostLevels;
    if (is_cut_ || (!levels_.empty() && levels_.back().wants_key)) {
      return false;
    }
    const bool is_object = rest_.front() == '{';
    rest_.remove_prefix(1);
    if (!is_object) {
      path_ += "[]";
    }
    levels_.push_back({is_object, is_object, path_.size()});
    return true;
  }

  bool close() {
    const bool fits = levels_.back().is_object == (rest_.front() == '}');
    rest_.remove_prefix(1);
    levels_.pop_back();
    outline_.is_whole_ = fits && levels_.empty();
    if (!levels_.empty()) {
      path_.resize(levels_.back().path);
    }
    return fits;
  }

  bool take_key() {
    const std::optional<std::string_view> key = take_string();
    skip_spaces();
    is_cut_ = is_cut_ || rest_.empty();
    if (!key || rest_.empty() || rest_.front() != ':') {
      return false;
    }
    rest_.remove_prefix(1);
    Level& level = levels_.back();
    level.wants_key = false;
    path_.resize(level.path);
    if (levels_.size() <= kMostNotedLevels) {
      path_ += path_.empty() ? "" : "/";
      path_ += *key;
      outline_.paths_.try_emplace(path_);
    }
    return true;
  }

  bool take_value(const std::optional<std::string_view>& value) {
    if (value && levels_.size() <= kMostNotedLevels) {
      std::string_view& noted = outline_.paths_[path_];
      noted = noted.empty() ? *value : noted;
    }
    return value.has_value();
  }

  std::optional<std::string_view> take_string() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') {
      end += rest_[end] == '\\' ? std::size_t{2} : std::size_t{1};
    }
    if (end >= rest_.size()) {
      is_cut_ = true;
      return std::nullopt;
    }
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<std::string_view> take_word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(kEndsOfWord));
    rest_.remove_prefix(word.size());
    return word.empty() || !is_word(word, rest_.empty()) ? std::nullopt : std::optional(word);
  }

  JsonOutline& outline_;
  std::string_view rest_;
  std::string path_;
  std::vector<Level> levels_;
  bool is_cut_ = false;  // the text ends within a key or a string, or what is looked at
};

JsonOutline::JsonOutline(std::span<const std::byte> head) {
  is_json_ = Scan(*this, bytes::text_of(head)).run();
}

std::string_view JsonOutline::text_at(std::string_view path) const {
  const auto found = paths_.find(path);
  return found == paths_.end() ? std::string_view() : found->second;
}

}  // namespace stackpack::capture
