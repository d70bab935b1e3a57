#include "app/diff/allow_file.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "io/byte_source.h"

namespace stackpack::app {

Result<std::vector<AllowedChange>> read_allowed_changes(const std::string& path) {
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
      return parse_allowed_changes(text);
    }
    if (text.size() + *read > kMost) {
      return Error{ErrorCode::kLimit, kMost, "a list of known changes is at most 1 MiB"};
    }
    for (const std::byte byte : std::span(buffer).first(*read)) {
      text += static_cast<char>(byte);
    }
  }
}

}  // namespace stackpack::app
