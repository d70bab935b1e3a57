// What readers of maps named, as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stackpack/names.h"
#include "support/test_bytes.h"
#include "symbolize/name_collector.h"

namespace stackpack::test {

inline std::vector<std::byte> bytes_of_text(std::string_view text) {
  TestBytes bytes;
  bytes.text(text);
  return bytes.bytes;
}

/// `start+size name` of each function in hexadecimal, `@birth` where it has one, apart by `, `;
/// then `start+size file:line` of each line likewise.
inline std::string rows_text(symbolize::NameCollector names) {
  const Names all = std::move(names).finish();
  std::string text;
  const auto hex = [](std::uint64_t value) {
    std::string digits;
    for (; value != 0 || digits.empty(); value /= 16) {
      digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
    }
    return digits;
  };
  for (const Function& row : all.functions) {
    text += (text.empty() ? "" : ", ") + hex(row.start) + "+" + hex(row.size) + " ";
    text += all.texts[row.name];
    if (row.born_ns != kUnknownTime) {
      text += "@" + std::to_string(row.born_ns);
    }
  }
  for (const CodeLine& row : all.lines) {
    text += ", " + hex(row.start) + "+" + hex(row.size) + " ";
    text += all.texts[row.file];
    text += ":" + std::to_string(row.line);
    if (row.born_ns != kUnknownTime) {
      text += "@" + std::to_string(row.born_ns);
    }
  }
  return text;
}

}  // namespace stackpack::test
