#include "io/temporary_name.h"

#include <charconv>
#include <iterator>
#include <system_error>

#include "io/utf8_path.h"

namespace stackpack::io {

namespace {

constexpr std::string_view kMark = ".tmp-";

// Bytes of a file's name that every usual file system allows, and those that the mark, a process
// and an attempt can take.
constexpr std::size_t kMostNameBytes = 255;
constexpr std::size_t kMostSuffixBytes = 20;

// Not the first byte of a character.
bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
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
  std::string name = target.substr(0, target.size() - file_name.size());
  name += temporary_stem(file_name);
  name += kMark;
  name += std::to_string(pid);
  name += '-';
  name += std::to_string(attempt);
  return name;
}

std::optional<TemporaryOwner> owner_of_temporary(std::string_view file_name) {
  const std::size_t mark = file_name.rfind(kMark);
  if (mark == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view numbers = file_name.substr(mark + kMark.size());
  const char* const end = numbers.data() + numbers.size();
  TemporaryOwner owner{file_name.substr(0, mark), 0};
  const auto [dash, bad_pid] = std::from_chars(numbers.data(), end, owner.pid);
  if (bad_pid != std::errc{} || owner.pid == 0 || dash == end || *dash != '-') {
    return std::nullopt;
  }
  unsigned attempt = 0;
  const auto [rest, bad_attempt] = std::from_chars(std::next(dash), end, attempt);
  return bad_attempt == std::errc{} && rest == end ? std::optional(owner) : std::nullopt;
}

}  // namespace stackpack::io
