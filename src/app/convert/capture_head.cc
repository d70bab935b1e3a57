#include "app/convert/capture_head.h"

#include <utility>

#include "app/convert/capture_formats.h"

namespace stackpack::app {

Result<std::vector<std::byte>> read_head(io::ByteSource& source) {
  std::vector<std::byte> head(detect_bytes());
  std::size_t size = 0;
  while (size < head.size()) {
    const auto rest = std::span(head).subspan(size);
    const Result<std::size_t> count =
        source.seekable() ? source.read_at(size, rest) : source.read(rest);
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      break;
    }
    size += *count;
  }
  head.resize(size);
  return head;
}

Result<std::vector<std::byte>> peek_head(std::unique_ptr<io::ByteSource>& source) {
  Result<std::vector<std::byte>> head = read_head(*source);
  if (head && !source->seekable()) {
    source = io::source_with_head(*head, std::move(source));
  }
  return head;
}

codec::FileCompression compression_around(std::span<const std::byte> head,
                                          const std::string& asked) {
  const capture::SourceFormat* const format = asked.empty() ? format_of(head) : format_named(asked);
  return format != nullptr && format->detect(head) ? codec::FileCompression::kNone
                                                   : codec::compression_of(head);
}

}  // namespace stackpack::app
