#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/buffered_reader.h"
#include "stackpack/result.h"

namespace stackpack::symbolize {

/// Lines of a text that cannot be trusted, one after the other.
class TextLines {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10;  ///< of a line

  explicit TextLines(io::ByteSource& source) : reader_(source, 0, 4 * kMostBytes) {}

  /// The next line without its end, valid until the next call; empty at the end of the text. Lines
  /// that are too long are passed over and counted. Errors: kIo.
  Result<std::optional<std::string_view>> next();

  [[nodiscard]] std::uint64_t too_long() const { return too_long_; }
  [[nodiscard]] std::uint64_t offset() const { return reader_.offset(); }

 private:
  io::BufferedReader reader_;
  std::uint64_t too_long_ = 0;
};

/// Takes the next word, at the front of `text`, off it; blanks and TABs divide words.
std::string_view take_word(std::string_view& text);

/// A hexadecimal number with or without 0x; empty when `text` is anything else.
std::optional<std::uint64_t> hex_number(std::string_view text);

}  // namespace stackpack::symbolize
