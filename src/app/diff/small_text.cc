#include "app/diff/small_text.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "io/byte_source.h"

namespace stackpack::app {

Result<std::string> read_small_text(const std::string& path, std::string_view too_large) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::unique_ptr<io::ByteSource> source = io::source_of_standard_input();
  if (path != "-") {
    auto opened = io::open_source(path);
    if (!opened) {
      return opened.error();
    }
    source = std::move(*opened);
  }
  std::string text;
  std::array<std::byte, 4096> buffer{};
  while (true) {
    const Result<std::size_t> read = source->read(buffer);
    if (!read) {
      return read.error();
    }
    if (*read == 0) {
      return text;
    }
    if (text.size() + *read > kMost) {
      return Error{ErrorCode::kLimit, kMost, too_large};
    }
    for (const std::byte byte : std::span(buffer).first(*read)) {
      text += static_cast<char>(byte);
    }
  }
}

Result<std::vector<AllowedChange>> read_allowed_changes(const std::string& path) {
  const Result<std::string> text =
      read_small_text(path, "a list of known changes is at most 1 MiB");
  return text ? parse_allowed_changes(*text) : Result<std::vector<AllowedChange>>(text.error());
}

}  // namespace stackpack::app
