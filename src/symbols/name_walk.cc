// One walk over the name, outside its brackets. What is a word is kept, what is a separator is kept
// with the word behind it; each bracket is judged by what stands before it: `f(...)` are
// parameters, `ns::(anonymous namespace)` is a namespace, `json.(*T)` a receiver. A blank ends a
// result type when what comes behind it is a name.
#include "symbols/name_walk.h"

#include <algorithm>
#include <string>
#include <utility>

#include "symbols/name_words.h"

namespace stackpack::symbols {

namespace {

constexpr std::size_t kNone = NameBrackets::kNone;
/// Brackets within brackets that are looked into.
constexpr int kDeepest = 8;

// No argument of a template begins like that, but the end of a tag does: "<b>text</b>".
bool is_tag(std::string_view inner) {
  return inner.starts_with('/');
}

// Parameters are types: "alert(1)" is a call, and "open(2)" a page of a manual.
bool are_values(std::string_view inner) {
  return !inner.empty() && (is_digit(inner.front()) || inner.front() == '"');
}

bool is_clone(std::string_view rest) {
  const std::size_t size =
      static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin());
  const std::string_view word = rest.substr(0, size);
  return size != 0 && (std::all_of(word.begin(), word.end(), is_digit) ||
                       std::find(kClones.begin(), kClones.end(), word) != kClones.end());
}

class NameWalk {
 public:
  NameWalk(std::string_view name, const NameBrackets& brackets, NameDetail detail)
      : name_(name), detail_(detail), brackets_(brackets) {
    look_ahead();
  }

  std::vector<NamePart> read() {
    const std::string_view about = first_of(kAbout, name_);
    if (!about.empty()) {
      keep(about.size(), true);
      fixed_ = parts_.size();
      begins_ = true;
    }
    walk(name_.size());
    return foreign_ ? std::vector<NamePart>() : std::move(parts_);
  }

 private:
  [[nodiscard]] bool all_arguments() const { return detail_ >= NameDetail::kArguments; }
  // Whether those that begin here are kept: `step<0>` and `step<1>` of one class differ in nothing
  // else, and the arguments of the class would come before them.
  [[nodiscard]] bool keeps_arguments() const {
    return all_arguments() ||
           (detail_ >= NameDetail::kOwnArguments && depth_ == 0 && at_ > last_colons_);
  }
  [[nodiscard]] bool all_parameters() const { return detail_ >= NameDetail::kParameters; }
  [[nodiscard]] char at(std::size_t place) const {
    return place < name_.size() ? name_[place] : '\0';
  }
  [[nodiscard]] std::string_view rest() const { return name_.substr(at_); }

  // What the walk must know of what is to come: whether there is a name behind a blank, a dot
  // behind a dot.
  void look_ahead() {
    for (std::size_t i = 0; i < name_.size(); ++i) {
      const std::size_t close = brackets_.close_of(i);
      const bool word = i > 0 && (is_word(name_[i - 1]) || name_[i - 1] == '>');
      const bool call = name_[i] == '(' && word;
      // Mono: "Namespace.Type:Method (int)".
      method_ = method_ || (name_[i] == ':' && word && at(i + 1) != ':' && name_.ends_with(')'));
      mono_ = mono_ || (method_ && name_[i] == '(' && name_[i - 1] == ' ');
      if (call || name_.substr(i).starts_with("::") || is_operator_word(name_, i) ||
          (name_[i] == ':' && method_)) {
        last_sign_ = i;
      }
      last_colons_ = name_.substr(i).starts_with("::") ? i : last_colons_;
      last_dot_ = name_[i] == '.' && !is_clone(name_.substr(i + 1)) ? i : last_dot_;
      i = close == kNone ? i : close;
    }
  }

  void walk(std::size_t end) {
    while (at_ < end) {
      if (begins_ && is_operator_word(name_, at_)) {
        take_operator();
      } else if (begins_ && !all_arguments() && rest().starts_with(kUnnamedOfMicrosoft)) {
        at_ += kUnnamedOfMicrosoft.size();
      } else if (brackets_.close_of(at_) != kNone) {
        take_bracket(brackets_.close_of(at_));
      } else {
        take_sign(end);
      }
    }
  }

  // Keeps the next bytes. `starts`: a name may start here.
  void keep(std::size_t size, bool starts) {
    append(separator_at_, std::exchange(separator_, 0), false);
    append(at_, size, starts);
    at_ += size;
    begins_ = false;
    after_parameters_ = false;
  }

  void append(std::size_t begin, std::size_t size, bool starts) {
    const bool touches =
        !parts_.empty() && parts_.back().begin + parts_.back().size == begin && !starts;
    if (touches) {
      parts_.back().size += static_cast<std::uint32_t>(size);
    } else if (size != 0) {
      parts_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size),
                        starts || parts_.empty()});
    }
  }

  void skip_to(std::size_t place) { at_ = place; }

  // A separator is kept when something comes behind it.
  void separate(std::size_t size, bool starts) {
    append(separator_at_, std::exchange(separator_, 0), false);
    separator_at_ = at_;
    separator_ = size;
    at_ += size;
    begins_ = true;
    may_start_ = starts;
    after_parameters_ = false;
    word_ = at_;
  }

  void take_word() {
    const bool first = begins_;
    if (first) {
      word_ = at_;
    }
    keep(1, first && std::exchange(may_start_, false) && !parts_.empty());
  }

  void take_operator() {
    may_start_ = false;
    const std::size_t word = at_ + std::string_view("operator").size();
    std::size_t end = operator_end(name_, word);
    if (end == word) {
      return take_conversion();
    }
    if (name_.substr(at_, end - at_).ends_with("\"\"")) {
      end = std::min(name_.find('(', end), name_.size());
    }
    keep(end - at_, false);
    if (at(at_) == ' ' && at(at_ + 1) == '<') {
      ++at_;
    }
  }

  // `operator std::vector<int>` is one word up to the parameters.
  void take_conversion() {
    while (at_ < name_.size() && name_[at_] != '(' && name_[at_] != ')') {
      const std::size_t close = brackets_.close_of(at_);
      if (close != kNone && !all_arguments()) {
        skip_to(close + 1);
      } else {
        keep(1, false);
      }
    }
  }

  void take_bracket(std::size_t close) {
    switch (name_[at_]) {
      case '(':
        return take_round(close);
      case '<':
        return take_angle(close);
      case '[':
        return take_square(close);
      default:
        return take_curly(close);
    }
  }

  void take_round(std::size_t close) {
    const std::string_view inner = name_.substr(at_ + 1, close - at_ - 1);
    if (!begins_) {
      const std::string_view word = name_.substr(word_, at_ - word_);
      if ((name_[at_ - 1] == ' ' && !mono_) ||
          std::find(kTypeWords.begin(), kTypeWords.end(), word) != kTypeWords.end()) {
        return keep(close + 1 - at_, false);
      }
      foreign_ = foreign_ || are_values(inner);
      if (all_parameters()) {
        keep(close + 1 - at_, false);
      }
      skip_to(close + 1);
      after_parameters_ = true;
    } else if (inner == "anonymous namespace" && name_.substr(close + 1).starts_with("::") &&
               !all_arguments()) {
      skip_to(close + 3);
    } else {
      take_inside(close);
    }
  }

  // The brackets and what is kept of what they hold.
  void take_inside(std::size_t close) {
    keep(1, std::exchange(may_start_, false));
    if (++depth_ <= kDeepest) {
      begins_ = true;
      may_start_ = false;
      const std::size_t fixed = std::exchange(fixed_, parts_.size());
      const bool inside = std::exchange(inside_, true);
      walk(close);
      inside_ = inside;
      fixed_ = fixed;
      separator_ = 0;
    }
    --depth_;
    keep(close + 1 - at_, false);
  }

  void take_angle(std::size_t close) {
    const std::string_view inner = name_.substr(at_ + 1, close - at_ - 1);
    const char next = at(close + 1);
    const bool ends = next == '\0' || next == '(' || next == ':' || next == ' ' || next == '>';
    const bool unnamed = inner.starts_with("lambda") || inner.starts_with("unnamed");
    const bool behind_colons = at_ >= 2 && name_.substr(at_ - 2, 2) == "::" && separator_ != 0;
    const bool of_a_trait = inner.starts_with("impl ") || has_as(close);
    if (!begins_ || (behind_colons && ends && !unnamed && !of_a_trait)) {
      foreign_ = foreign_ || is_tag(inner) || is_word(next);
      if (keeps_arguments()) {
        return keep(close + 1 - at_, false);
      }
      separator_ = begins_ ? 0 : separator_;
      begins_ = false;
      skip_to(close + 1);
    } else if (of_a_trait || (next == ':' && at(close + 2) == ':' && !unnamed)) {
      take_type(close);
    } else {
      keep(close + 1 - at_, std::exchange(may_start_, false));
    }
  }

  // Rust: `<alloc::vec::Vec<T> as core::fmt::Debug>` keeps the last words of its paths; the
  // brackets of `<a::B>` alone say nothing.
  void take_type(std::size_t close) {
    const bool path = is_path(close);
    if (path && depth_ < kDeepest && !all_arguments()) {
      ++depth_;
      at_ += 1;
      walk(close);
      --depth_;
      separator_ = 0;
      skip_to(close + 1);
      begins_ = false;
      return;
    }
    if (all_arguments()) {
      return keep(close + 1 - at_, std::exchange(may_start_, false));
    }
    keep(1, std::exchange(may_start_, false));
    keep_type(close);
    keep(close + 1 - at_, false);
  }

  // Whether brackets hold "X as Y".
  [[nodiscard]] bool has_as(std::size_t close) const {
    for (std::size_t i = at_ + 1; i < close; ++i) {
      if (name_.substr(i).starts_with(" as ")) {
        return true;
      }
      i = brackets_.close_of(i) == kNone ? i : brackets_.close_of(i);
    }
    return false;
  }

  // Whether brackets hold words and colons alone, besides their own brackets.
  [[nodiscard]] bool is_path(std::size_t close) const {
    if (!is_word(name_[at_ + 1])) {
      return false;
    }
    for (std::size_t i = at_ + 1; i < close; ++i) {
      if (brackets_.close_of(i) != kNone) {
        i = brackets_.close_of(i);
      } else if (!is_word(name_[i]) && name_[i] != ':') {
        return false;
      }
    }
    return true;
  }

  // Of each path its last word, without arguments.
  void keep_type(std::size_t close) {
    while (at_ < close) {
      const std::size_t inner = brackets_.close_of(at_);
      if (is_word(name_[at_])) {
        std::size_t end = at_;
        while (end < close && is_word(name_[end])) {
          ++end;
        }
        // A crate may have its number behind it: `core[c1f1a4ba060b9bfa]`.
        const std::size_t crate =
            end < close && name_[end] == '[' ? brackets_.close_of(end) : kNone;
        const std::size_t behind = crate == kNone ? end : crate + 1;
        if (name_.substr(behind).starts_with("::")) {
          skip_to(behind + 2);
        } else {
          keep(end - at_, false);
        }
      } else if (inner != kNone && name_[at_] == '<') {
        skip_to(name_.substr(inner + 1).starts_with("::") ? inner + 3 : inner + 1);
      } else {
        keep(1, false);
      }
    }
  }

  void take_square(std::size_t close) {
    const std::string_view inner = name_.substr(at_ + 1, close - at_ - 1);
    const char next = at(close + 1);
    const bool number = std::all_of(inner.begin(), inner.end(), is_digit);
    const bool arguments = inner.starts_with("abi:") || after_parameters_ || next == '.' ||
                           next == ':' || next == '(' || (last_dot_ < at_ && !number) || inside_;
    if (begins_ || !arguments || all_arguments()) {
      keep(close + 1 - at_, std::exchange(may_start_, false));
    } else {
      skip_to(close + 1);
    }
  }

  // `{lambda(int)#1}` without its parameters.
  void take_curly(std::size_t close) {
    may_start_ = false;
    const std::size_t before = name_.substr(at_, close - at_).find('(');
    const std::size_t round = at_ + before;
    if (before != std::string_view::npos && brackets_.close_of(round) < close &&
        !all_parameters()) {
      keep(round - at_, false);
      skip_to(brackets_.close_of(round) + 1);
    }
    keep(close + 1 - at_, false);
  }

  void take_sign(std::size_t end) {
    const char c = name_[at_];
    const bool last = at_ + 1 >= end;
    if (c == ' ') {
      take_blank(end);
    } else if (c == ':' && at(at_ + 1) == ':') {
      // A name may start at a word; `operator()` and `{closure}` say too little.
      const std::size_t next = at_ + 2;
      separate(2, !inside_ && !is_operator_word(name_, next) && at(next) != '{' &&
                      at(next) != '<' && at(next) != '.');
    } else if (c == ':' && method_ && !begins_ && !inside_) {
      separate(1, at(at_ + 1) != '.');
    } else if (c == '/' && !begins_ && !last && !inside_) {
      separate(1, at(at_ + 1) != '0');
    } else if (c == '.' && !begins_ && !last && !is_clone(rest().substr(1))) {
      separate(1, !inside_ && last_dot_ != kNone && last_dot_ > at_);
    } else if (c == '+' && at(at_ + 1) == '<') {
      take_word();
      begins_ = true;
    } else if (c == '!' && at(at_ + 1) == '(' && !begins_) {
      take_instance();
    } else if (c == '`' && is_digit(at(at_ + 1)) && !begins_ && !all_arguments()) {
      do {
        ++at_;
      } while (is_digit(at(at_)));
    } else if (c == '-' && at(at_ + 1) == '>' && after_parameters_) {
      skip_to(end);
    } else {
      take_word();
    }
  }

  // D: `map!(args).map` is the function `map`.
  void take_instance() {
    const std::size_t close = brackets_.close_of(at_ + 1);
    if (close == kNone || all_arguments()) {
      return take_word();
    }
    const std::string_view word = name_.substr(word_, at_ - word_);
    skip_to(close + 1);
    if (at(at_) == '.' && rest().substr(1).starts_with(word) &&
        !is_word(at(at_ + 1 + word.size()))) {
      at_ += 1 + word.size();
    }
  }

  void take_blank(std::size_t end) {
    const std::string_view behind = rest().substr(1);
    if (behind.starts_with("[clone")) {
      const std::size_t close = brackets_.close_of(at_ + 1);
      return skip_to(close == kNone ? name_.size() : close + 1);
    }
    if (mono_ && behind.starts_with("(") && !begins_ && last_sign_ <= at_) {
      ++at_;  // the parameters follow
      return;
    }
    if (after_parameters_) {
      return skip_qualifier(end);
    }
    if (!begins_ && behind.starts_with("(") && name_.substr(word_, at_ - word_) == "decltype") {
      return take_expression();
    }
    if (!inside_ && last_sign_ != kNone && last_sign_ > at_) {
      // A result type ends here.
      parts_.resize(fixed_);
      separator_ = 0;
      may_start_ = false;
      begins_ = true;
      ++at_;
      return;
    }
    take_word();
    begins_ = inside_;
  }

  // `decltype (f(0))`: what stands in the brackets is neither parameters nor a text of other kind.
  void take_expression() {
    const std::size_t close = brackets_.close_of(at_ + 1);
    keep((close == kNone ? name_.size() : close + 1) - at_, false);
  }

  // ` const`, ` volatile`, ` &&` behind parameters. Anything else there is a text that goes on.
  void skip_qualifier(std::size_t end) {
    ++at_;
    if (!word_of(kTails, rest()).empty()) {
      return skip_to(end);
    }
    const std::string_view qualifier = word_of(kQualifiers, rest());
    if (qualifier.empty()) {
      foreign_ = true;
      return skip_to(end);
    }
    const std::size_t close = brackets_.close_of(at_);
    skip_to(close == kNone ? at_ + qualifier.size() : close + 1);
    while (at(at_) == '&') {
      ++at_;
    }
  }

  std::string_view name_;
  NameDetail detail_;
  const NameBrackets& brackets_;
  std::vector<NamePart> parts_;
  std::size_t fixed_ = 0;          // parts that no result type takes away
  std::size_t at_ = 0;             // the next byte
  std::size_t separator_at_ = 0;   // what is kept when something comes behind it
  std::size_t separator_ = 0;      // its bytes
  std::size_t word_ = 0;           // where the latest word began
  std::size_t last_sign_ = kNone;  // of what shows that it is a name
  std::size_t last_dot_ = kNone;   // between two words
  std::size_t last_colons_ = 0;    // what comes behind is the function's own name
  int depth_ = 0;
  bool method_ = false;     // a colon stands before the method
  bool mono_ = false;       // parameters stand behind a blank
  bool begins_ = true;      // a word begins
  bool may_start_ = false;  // and a shorter name with it
  bool after_parameters_ = false;
  bool inside_ = false;   // brackets
  bool foreign_ = false;  // no name of these languages
};

}  // namespace

std::vector<NamePart> walk_name(std::string_view name, const NameBrackets& brackets,
                                NameDetail detail) {
  return NameWalk(name, brackets, detail).read();
}

}  // namespace stackpack::symbols
