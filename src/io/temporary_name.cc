#include "io/temporary_name.h"

#include <charconv>
#include <iterator>
#include <system_error>

#include "io/utf8_path.h"

namespace stackpack::io {

namespace {

constexpr std::string_view kBegin = ".tmp-";

// Bytes of a file's name that every usual file system allows, and those that a process, an attempt
// and the mark can take.
constexpr std::size_t kMostNameBytes = 255;
constexpr std::size_t kMostSuffixBytes = 29;
constexpr std::size_t kMarkDigits = 8;

// Not the first byte of a character.
bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Ends the name that begins so: FNV-1a (32 bits) of it, in hex.
std::string mark_of(std::string_view name) {
  constexpr std::uint32_t kPrime = 16'777'619;
  std::uint32_t hash = 2'166'136'261;
  for (const char byte : name) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  }
  std::string mark(kMarkDigits, '0');
  for (std::size_t at = kMarkDigits; at-- > 0; hash >>= 4U) {
    mark[at] = "0123456789abcdef"[hash & 0xFU];
  }
  return mark;
}

}  // namespace

std::string_view temporary_stem(std::string_view file_name) {
  std::size_t size = kMostNameBytes - kMostSuffixBytes;
  if (file_name.size() <= size) {
    return file_name;
  }
  while (size > 1 && continues_character(file_name[size])) {
    --size;
  }
  return file_name.substr(0, size);
}

std::string temporary_name(const std::string& target, std::uint64_t pid, unsigned attempt) {
  const std::string file_name = text_of(path_of(target).filename());
  std::string name(temporary_stem(file_name));
  name += kBegin;
  name += std::to_string(pid);
  name += '-';
  name += std::to_string(attempt);
  name += '-';
  name += mark_of(name);
  return target.substr(0, target.size() - file_name.size()) + name;
}

std::optional<TemporaryOwner> owner_of_temporary(std::string_view file_name) {
  const std::size_t begin = file_name.rfind(kBegin);
  const std::size_t last = file_name.rfind('-');
  if (begin == std::string_view::npos || last < begin + kBegin.size() ||
      file_name.substr(last + 1) != mark_of(file_name.substr(0, last + 1))) {
    return std::nullopt;
  }
  const std::string_view numbers =
      file_name.substr(begin + kBegin.size(), last - begin - kBegin.size());
  const char* const end = numbers.data() + numbers.size();
  TemporaryOwner owner{file_name.substr(0, begin), 0};
  const auto [dash, bad_pid] = std::from_chars(numbers.data(), end, owner.pid);
  if (bad_pid != std::errc{} || owner.pid == 0 || dash == end || *dash != '-') {
    return std::nullopt;
  }
  unsigned attempt = 0;
  const auto [rest, bad_attempt] = std::from_chars(std::next(dash), end, attempt);
  return bad_attempt == std::errc{} && rest == end ? std::optional(owner) : std::nullopt;
}

}  // namespace stackpack::io
