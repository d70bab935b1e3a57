// The lines at the beginning of a text, for probes of formats that are text.
#pragma once

#include <algorithm>
#include <string_view>

#include "bytes/byte_text.h"
#include "capture/format_probe.h"

namespace stackpack::capture {

/// The whole lines in front of the first NUL, of which texts that were cut or never written have
/// some; all of a text without one.
inline std::string_view text_of_head(const CaptureHead& head) {
  const std::string_view text = bytes::text_of(head.bytes);
  const std::size_t end = text.find('\0');
  return end == std::string_view::npos ? text : text.substr(0, text.substr(0, end).rfind('\n') + 1);
}

/// Gives `take` each line without its end, and whether it may be a part of one.
template <typename Take>
void for_each_line(std::string_view text, bool whole, Take take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool is_cut = end == std::string_view::npos && !whole;
    std::string_view line = text.substr(0, end);
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    take(line, is_cut);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace stackpack::capture
