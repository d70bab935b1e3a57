#include "diff/function_identity.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stackpack::diff {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t end_of(std::string_view text, std::size_t at, bool (*belongs)(char)) {
  while (at < text.size() && belongs(text[at])) {
    ++at;
  }
  return at;
}

// A set of characters. Names are long, and few of their characters begin a mark.
class Letters {
 public:
  constexpr explicit Letters(std::string_view letters) {
    for (const char letter : letters) {
      has_[static_cast<unsigned char>(letter)] = true;
    }
  }
  [[nodiscard]] constexpr bool has(char letter) const {
    return has_[static_cast<unsigned char>(letter)];
  }

 private:
  std::array<bool, 256> has_{};
};

// Suffixes of what a compiler makes of one function. A number may follow each: `.part.3`.
constexpr std::array<std::string_view, 9> kParts = {
    "cold", "part", "constprop", "isra", "lto_priv", "localalias", "llvm", "__uniq", "unlikely"};

// The end of a suffix `.cold`, `.part.3`, `.constprop.0` that begins at the dot; `at` if none does.
std::size_t end_of_part(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '.') {
    return at;
  }
  const std::size_t word = at + 1;
  const std::size_t end = end_of(text, word, is_word);
  const std::string_view name = text.substr(word, end - word);
  if (std::find(kParts.begin(), kParts.end(), name) == kParts.end()) {
    return at;
  }
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    return end_of(text, end + 1, is_digit);
  }
  return end;
}

// `foo.constprop.0.cold` as linked, `foo(int) [clone .constprop.0] [clone .cold]` demangled.
std::string without_parts(std::string_view name) {
  constexpr std::string_view kClone = " [clone ";
  std::string text;
  text.reserve(name.size());
  std::size_t at = 0;
  while (at < name.size()) {
    if (name[at] != ' ' && name[at] != '.') {
      text += name[at++];
      continue;
    }
    if (name[at] == ' ' && name.substr(at).starts_with(kClone)) {
      std::size_t end = at + kClone.size();
      const std::size_t begin = end;
      for (std::size_t next = end_of_part(name, end); next != end; next = end_of_part(name, end)) {
        end = next;
      }
      if (end != begin && end < name.size() && name[end] == ']') {
        at = end + 1;
        continue;
      }
    }
    if (const std::size_t end = end_of_part(name, at);
        at != 0 && end != at && (end == name.size() || name[end] == '.')) {
      at = end;
      continue;
    }
    text += name[at++];
  }
  return text;
}

// Rust, legacy mangling: `core::fmt::write::h0123456789abcdef`.
void drop_rust_hash(std::string& text) {
  constexpr std::size_t kDigits = 16;
  constexpr std::string_view kMark = "::h";
  if (text.size() <= kDigits + kMark.size()) {
    return;
  }
  const std::size_t digits = text.size() - kDigits;
  if (std::string_view(text).substr(digits - kMark.size(), kMark.size()) == kMark &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(digits), text.end(), is_hex)) {
    text.resize(digits - kMark.size());
  }
}

// What is dropped wherever it stands: a mark, digits of a number of the base, and an end.
struct Hash {
  std::string_view mark;  // stays
  std::size_t least;      // digits
  std::size_t most;
  char end;  // stays; '\0': any that is no digit
};
constexpr std::array kHashes = {
    Hash{"<lambda_", 8, 64, '>'},  // MSVC
    Hash{"?A0x", 4, 16, '\0'},     // MSVC: an anonymous namespace
    Hash{"`anonymous-namespace-0x", 4, 16, '\0'},
    Hash{"pMT: ", 4, 16, '\0'},      // .NET: stubs have pointers in their signatures
    Hash{"Lambda/0x", 4, 16, '\0'},  // Java: hidden classes
};
// With the bracket of a crate's hash.
constexpr Letters kBeginHashes("<?`pL[");
static_assert(std::all_of(kHashes.begin(), kHashes.end(),
                          [](const Hash& hash) { return kBeginHashes.has(hash.mark.front()); }));

// Rust, v0 mangling: `core[0123456789abcdef]::fmt::write`.
std::size_t end_of_crate_hash(std::string_view text, std::size_t at) {
  constexpr std::size_t kLeast = 8;
  if (at == 0 || text[at] != '[' || !is_word(text[at - 1])) {
    return at;
  }
  const std::size_t end = end_of(text, at + 1, is_hex);
  const bool good = end - at > kLeast && text.substr(end).starts_with("]");
  return good ? end + 1 : at;
}

std::string without_hashes(std::string_view name) {
  std::string text;
  text.reserve(name.size());
  std::size_t at = 0;
  while (at < name.size()) {
    if (!kBeginHashes.has(name[at])) {
      text += name[at++];
      continue;
    }
    if (const std::size_t end = end_of_crate_hash(name, at); end != at) {
      at = end;
      continue;
    }
    const auto* const hash = std::find_if(kHashes.begin(), kHashes.end(), [&](const Hash& known) {
      return name.substr(at).starts_with(known.mark);
    });
    if (hash != kHashes.end()) {
      const std::size_t digits = at + hash->mark.size();
      const std::size_t end = end_of(name, digits, is_hex);
      const std::size_t count = end - digits;
      if (count >= hash->least && count <= hash->most &&
          (hash->end == '\0' || (end < name.size() && name[end] == hash->end))) {
        text += hash->mark;
        at = end;
        continue;
      }
    }
    text += name[at++];
  }
  drop_rust_hash(text);
  return text;
}

// A mark that a number follows where a compiler counts what has no name.
constexpr std::array<std::string_view, 18> kNumbered = {
    "{lambda#",        // some demanglers
    ")#",              // {lambda(int)#2}, of GCC
    "{unnamed type#",  //
    "{unnamed-type#",  //
    "{closure#",       // Rust
    "{closure_env#",   // as types, in names of its debug information
    "{async_fn_env#",
    "{async_block_env#",
    "{coroutine_env#",
    "{impl#",
    "::$_",          // Clang
    "'lambda",       // 'lambda0'(int), of LLVM's demangler
    "'unnamed",      //
    "<lambda_",      // newer MSVC: <lambda_1>
    "DisplayClass",  // .NET: <>c__DisplayClass1_0
    ">b__",          // .NET: <Main>b__0_1
    ">g__",          // .NET: local functions
    "$Lambda$",      // Java
};
// With the dot of a closure of Go.
constexpr Letters kBeginNumbered("{):'<D>$.");
static_assert(std::all_of(kNumbered.begin(), kNumbered.end(),
                          [](std::string_view mark) { return kBeginNumbered.has(mark.front()); }));

std::string without_numbers(std::string_view name) {
  constexpr std::string_view kGoClosure = ".func";
  std::string text;
  text.reserve(name.size());
  std::size_t at = 0;
  while (at < name.size()) {
    if (!kBeginNumbered.has(name[at])) {
      text += name[at++];
      continue;
    }
    const auto* const mark =
        std::find_if(kNumbered.begin(), kNumbered.end(),
                     [&](std::string_view known) { return name.substr(at).starts_with(known); });
    if (mark != kNumbered.end()) {
      text += *mark;
      at = end_of(name, at + mark->size(), [](char c) { return is_digit(c) || c == '_'; });
      continue;
    }
    // Go: main.run.func1.2
    if (name.substr(at).starts_with(kGoClosure)) {
      const std::size_t digits = at + kGoClosure.size();
      const std::size_t end = end_of(name, digits, [](char c) { return is_digit(c) || c == '.'; });
      if (end != digits && end == name.size()) {
        text += kGoClosure;
        break;
      }
    }
    text += name[at++];
  }
  return text;
}

// `.1.2.3` up to the end.
bool is_version(std::string_view text) {
  return !text.empty() && text.front() == '.' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == '.' || is_digit(c); });
}

// `libfoo-1.2` -> `libfoo`; `ld-linux-x86-64` stays: a version has a dot.
std::string_view without_dashed_version(std::string_view stem) {
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == stem.size() || dash == 0) {
    return stem;
  }
  const std::string_view rest = stem.substr(dash + 1);
  return is_digit(rest.front()) && rest.find('.') != std::string_view::npos &&
                 is_version(std::string(".").append(rest))
             ? stem.substr(0, dash)
             : stem;
}

}  // namespace

FunctionIdentity identity_of_function(std::string_view name) {
  FunctionIdentity identity;
  identity.exact = without_parts(without_hashes(without_parts(name)));
  if (identity.exact.empty()) {
    identity.exact = name;
  }
  identity.unnumbered = without_numbers(identity.exact);
  return identity;
}

std::string identity_of_module(std::string_view name) {
  constexpr std::string_view kKernel = "vmlinux-";
  if (name.starts_with('[')) {
    return std::string(name);
  }
  if (name.starts_with(kKernel)) {
    return std::string(kKernel.substr(0, kKernel.size() - 1));
  }
  for (const std::string_view ending : {".so", ".dll", ".exe", ".dylib"}) {
    const std::size_t at = name.rfind(ending);
    if (at == std::string_view::npos) {
      continue;
    }
    const std::string_view rest = name.substr(at + ending.size());
    if (rest.empty() || is_version(rest)) {
      return std::string(without_dashed_version(name.substr(0, at))).append(ending);
    }
  }
  return std::string(name);
}

}  // namespace stackpack::diff
