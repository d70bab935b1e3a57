#include "symbolize/demangler.h"

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include <libiberty/demangle.h>

#include "symbolize/llvm_names.h"

namespace stackpack::symbolize {

namespace {

// libiberty has room for 2,048 parts; a name has at most two for each of its bytes. Longer names
// need its limit off, and up to kMostLinkedBytes a stack of 4 MiB.
constexpr std::size_t kLimitedBytes = 1000;
constexpr int kReadable = DMGL_PARAMS | DMGL_ANSI;
// The largest thing that one byte of a D name stands for is `extern(Objective-C) `.
constexpr std::uint64_t kMostOfOneByte = 24;

struct FreeMemory {
  void operator()(char* text) const { std::free(text); }  // NOLINT: the library's own
};
using LibraryText = std::unique_ptr<char, FreeMemory>;

// Takes what a library prints, piece by piece, and leaves the library when there is no more room.
// It has no memory of its own then: it prints from its stack.
struct PrintedText {
  std::span<char> room;
  std::size_t size = 0;
  std::jmp_buf full;
};

void take_piece(const char* piece, std::size_t size, void* taker) {
  auto& text = *static_cast<PrintedText*>(taker);
  if (size > text.room.size() - text.size) {
    std::longjmp(text.full, 1);  // NOLINT: C between here and there, and nothing to destroy
  }
  std::copy_n(piece, size, text.room.data() + text.size);
  text.size += size;
}

using PrintName = int (*)(const char*, int, demangle_callbackref, void*);

struct Printed {
  std::size_t size = 0;  ///< 0: the name is not of that kind, or there is no room
  bool no_room = false;
};

Printed print_name(PrintName print, const char* linked, int options, std::span<char> room) {
  PrintedText text;
  text.room = room;
  if (setjmp(text.full) != 0) {  // NOLINT: see take_piece
    return {0, true};
  }
  return {print(linked, options, &take_piece, &text) != 0 ? text.size : 0, false};
}

std::size_t keep(const LibraryText& text, std::span<char> room) {
  if (text == nullptr) {
    return 0;
  }
  const std::string_view readable(text.get());
  if (readable.size() > room.size()) {
    return 0;
  }
  std::copy(readable.begin(), readable.end(), room.begin());
  return readable.size();
}

// A reference to a part before (`S1_`, `T_`) or a pack may repeat it. Of n of them, each made of k
// parts before, the last is k^(n/k) times as long as the first: 3^10 at most here.
bool repeats_little(std::string_view linked) {
  constexpr int kMostReferences = 30;
  int references = 0;
  for (std::size_t i = 0; i + 1 < linked.size(); ++i) {
    const char next = linked[i + 1];
    const bool numbered =
        next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z');
    references += ((linked[i] == 'S' || linked[i] == 'T') && numbered) ||
                          ((linked[i] == 'D' || linked[i] == 's') && next == 'p')
                      ? 1
                      : 0;
  }
  return linked.size() <= Demangler::kMostOtherLinkedBytes && references <= kMostReferences;
}

// LLVM reads constraints and lambdas within lambdas, of which not all versions of libiberty do;
// libiberty reads what LLVM does not (clones of transactions), and bounds what it makes.
std::size_t print_itanium(const std::string& linked, int form, std::span<char> room) {
  const Printed rust = print_name(&rust_demangle_callback, linked.c_str(), kReadable, room);
  if (rust.size != 0) {
    return rust.size;
  }
  const int options = linked.size() > kLimitedBytes ? form | DMGL_NO_RECURSE_LIMIT : form;
  const Printed printed = print_name(&cplus_demangle_v3_callback, linked.c_str(), options, room);
  if (printed.size != 0 || printed.no_room || form != kReadable || !repeats_little(linked)) {
    return printed.size;
  }
  return keep(LibraryText(llvm_itanium_name(linked.c_str())), room);
}

// What a D name can become at most. `Q` and a number to the base of 26 stand for what begins so
// many bytes before: an identifier, which says how long it is, or a type, which may reach up to
// here.
std::uint64_t most_d_bytes(std::string_view linked, std::uint64_t limit) {
  std::vector<std::uint64_t> before(linked.size() + 1, 0);  // by byte: what those before become
  for (std::size_t i = 0; i < linked.size(); ++i) {
    std::uint64_t here = kMostOfOneByte;
    if (linked[i] == 'Q') {
      std::size_t distance = 0;
      std::size_t at = i + 1;
      for (; at < linked.size() && linked[at] >= 'A' && linked[at] <= 'Z'; ++at) {
        distance = std::min(distance * 26 + static_cast<std::size_t>(linked[at] - 'A'), i + 1);
      }
      if (at < linked.size() && linked[at] >= 'a' && linked[at] <= 'z') {
        distance = distance * 26 + static_cast<std::size_t>(linked[at] - 'a');
      }
      if (distance <= i) {
        const char target = linked[i - distance];
        const bool identifier = target >= '0' && target <= '9';
        here += identifier ? linked.size() : before[i] - before[i - distance];
      }
    }
    before[i + 1] = before[i] + here;
    if (before[i + 1] > limit) {
      break;
    }
    if (i + 1 == linked.size()) {
      return before[i + 1];
    }
  }
  return limit + 1;
}

std::size_t print_d(const std::string& linked, std::span<char> room) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  if (linked.size() > Demangler::kMostOtherLinkedBytes ||
      most_d_bytes(linked, kMostBytes) > kMostBytes) {
    return 0;
  }
  return keep(LibraryText(dlang_demangle(linked.c_str(), kReadable)), room);
}

// A backward reference is a digit and at most doubles what there was before it.
bool stays_small(std::string_view linked) {
  constexpr std::ptrdiff_t kMostDigits = 20;
  return linked.size() <= Demangler::kMostOtherLinkedBytes &&
         std::count_if(linked.begin(), linked.end(), [](char c) { return c >= '0' && c <= '9'; }) <=
             kMostDigits;
}

std::size_t print_microsoft(const std::string& linked, std::span<char> room) {
  return stays_small(linked) ? keep(LibraryText(llvm_microsoft_name(linked.c_str())), room) : 0;
}

}  // namespace

bool demangles_microsoft_names() {
  return reads_llvm_names();
}

Demangler::Demangler(std::size_t most_bytes, Form form) : form_(form), buffer_(most_bytes) {}

std::string_view Demangler::demangle(std::string_view linked) {
  if (linked.size() < 3 || linked.size() > kMostLinkedBytes ||
      linked.find('\0') != std::string_view::npos) {
    return {};
  }
  constexpr std::string_view kStub = "@plt";
  const bool is_stub = linked.ends_with(kStub);
  linked_ = linked.substr(0, linked.size() - (is_stub ? kStub.size() : 0));
  std::size_t size = 0;
  if (linked.starts_with("_Z")) {
    size = print_itanium(linked_, form_ == Form::kWhole ? kReadable : DMGL_NO_OPTS, buffer_);
  } else if (linked.starts_with("_R")) {
    size = print_name(&rust_demangle_callback, linked_.c_str(), kReadable, buffer_).size;
  } else if (linked.starts_with("_D")) {
    size = print_d(linked_, buffer_);
  } else if (linked.starts_with('?')) {
    size = print_microsoft(linked_, buffer_);
  }
  if (size != 0 && is_stub) {
    if (buffer_.size() - size < kStub.size()) {
      return {};
    }
    std::copy(kStub.begin(), kStub.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size));
    size += kStub.size();
  }
  return {buffer_.data(), size};
}

}  // namespace stackpack::symbolize
