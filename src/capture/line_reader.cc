#include "capture/line_reader.h"

#include "bytes/byte_text.h"

namespace stackpack::capture {

// The bytes up to and with the next newline; fewer at the end or when the line is too long.
Result<std::span<const std::byte>> LineReader::peek() {
  for (std::size_t size = 4096;; size = std::min(size * 4, max_line_bytes_)) {
    const auto bytes = reader_.peek(size);
    if (!bytes) {
      return bytes.error();
    }
    const auto end = std::find(bytes->begin(), bytes->end(), std::byte{'\n'});
    if (end != bytes->end()) {
      return bytes->first(static_cast<std::size_t>(end - bytes->begin()) + 1);
    }
    if (bytes->size() < size || size == max_line_bytes_) {
      return *bytes;
    }
  }
}

Result<bool> LineReader::next(TextLine& line) {
  reader_.consume(taken_);
  taken_ = 0;
  line = {};
  line.offset = reader_.offset();
  const auto bytes = peek();
  if (!bytes || bytes->empty()) {
    return bytes ? Result<bool>(false) : Result<bool>(bytes.error());
  }
  line.bytes = taken_ = bytes->size();
  line.ended = bytes->back() == std::byte{'\n'};
  line.begins = !in_long_line_;
  line.too_long = in_long_line_ || line.bytes > max_line_bytes_ ||
                  (!line.ended && line.bytes == max_line_bytes_);
  in_long_line_ = line.too_long && !line.ended;
  if (!line.too_long) {
    line.text = bytes::text_of(line.ended ? bytes->first(line.bytes - 1) : *bytes);
    if (line.text.ends_with('\r')) {
      line.text.remove_suffix(1);
    }
  }
  return true;
}

}  // namespace stackpack::capture
