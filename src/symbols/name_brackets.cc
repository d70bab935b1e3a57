#include "symbols/name_brackets.h"

#include <algorithm>
#include <array>

namespace stackpack::symbols {

namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kOpening = "(<[{";
constexpr std::string_view kClosing = ")>]}";

// Longer ones first.
constexpr std::array<std::string_view, 42> kSymbols = {
    "<=>", "<<=", ">>=", "->*", "()", "[]", "<<",     ">>",        "<=",  ">=", "==",
    "!=",  "&&",  "||",  "++",  "--", "+=", "-=",     "*=",        "/=",  "%=", "^=",
    "&=",  "|=",  "->",  "+",   "-",  "*",  "/",      "%",         "^",   "&",  "|",
    "~",   "!",   "=",   "<",   ">",  ",",  " new[]", " delete[]", "\"\""};

}  // namespace

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_operator_word(std::string_view name, std::size_t at) {
  return name.substr(at).starts_with(kOperator) && (at == 0 || !is_word(name[at - 1])) &&
         at + kOperator.size() < name.size() && !is_word(name[at + kOperator.size()]);
}

std::size_t operator_end(std::string_view name, std::size_t at) {
  const auto symbol = std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view known) {
    return name.substr(at).starts_with(known);
  });
  return symbol == kSymbols.end() ? at : at + symbol->size();
}

NameBrackets::NameBrackets(std::string_view name) : closes_(name.size(), kNone) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == 'o' && is_operator_word(name, at)) {
      at = operator_end(name, at + kOperator.size()) - 1;
    } else if ((c == '-' || c == '=') && at + 1 < name.size() && name[at + 1] == '>') {
      ++at;
    } else if (c == '"' && name.find('"', at + 1) != std::string_view::npos) {
      at = name.find('"', at + 1);
    } else if (kOpening.find(c) != std::string_view::npos) {
      open(at);
    } else if (kClosing.find(c) != std::string_view::npos) {
      close(name, at);
    }
  }
}

// A `<` within other brackets may be the sign for less, and then nothing closes it.
void NameBrackets::close(std::string_view name, std::size_t at) {
  const char opening = kOpening[kClosing.find(name[at])];
  while (!open_.empty() && opening != '<' && name[open_.back()] == '<') {
    open_.pop_back();  // a sign
  }
  if (!open_.empty() && name[open_.back()] == opening) {
    closes_[open_.back()] = at;
    open_.pop_back();
  } else {
    lone_ = lone_ || opening != '<';
  }
}

}  // namespace stackpack::symbols
