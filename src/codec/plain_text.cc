#include "codec/plain_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "bytes/utf8.h"

namespace stackpack::codec {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 15;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kMark = 0xFEFF;

bool is_printable(std::byte byte) {
  return (byte >= std::byte{0x20} && byte < std::byte{0x7F}) || byte == std::byte{'\n'} ||
         byte == std::byte{'\r'} || byte == std::byte{'\t'};
}

// Whether every second byte is zero and the others are ASCII, from `first` on: the first characters
// of UTF-16 without a mark.
bool is_wide_ascii(std::span<const std::byte> head, std::size_t first) {
  constexpr std::size_t kLeastBytes = 8;
  constexpr std::size_t kLookedAt = 64;
  const std::size_t size = std::min(head.size() & ~std::size_t{1}, kLookedAt);
  for (std::size_t i = 0; i < size; i += 2) {
    if (!is_printable(head[i + first]) || head[i + 1 - first] != std::byte{0}) {
      return false;
    }
  }
  return size >= kLeastBytes;
}

bool has_returns_alone(std::string_view text) {
  const bool is_text = std::all_of(text.begin(), text.end(), [](char letter) {
    return static_cast<unsigned char>(letter) >= 0x20 || letter == '\r' || letter == '\t';
  });
  return is_text && text.find('\r') != std::string_view::npos && !text.ends_with('\r');
}

// Takes the bytes of a text in parts.
class TextDecoder {
 public:
  explicit TextDecoder(TextEncoding encoding) : encoding_(encoding) {}

  void decode(std::span<const std::byte> part, std::vector<std::byte>& out) {
    if (encoding_ == TextEncoding::kUtf16Little || encoding_ == TextEncoding::kUtf16Big) {
      decode_wide(part, out);
      return;
    }
    if (encoding_ == TextEncoding::kMarkedUtf8 && mark_left_ != 0) {
      const std::size_t mark = std::min(part.size(), mark_left_);
      mark_left_ -= mark;
      part = part.subspan(mark);
    }
    const std::size_t begin = out.size();
    out.insert(out.end(), part.begin(), part.end());
    if (encoding_ == TextEncoding::kReturns) {
      std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), std::byte{'\r'},
                   std::byte{'\n'});
    }
  }

  /// After the last part.
  void finish(std::vector<std::byte>& out) {
    if (high_ != 0 || has_odd_) {
      append(kReplacement, out);
    }
    high_ = 0;
    has_odd_ = false;
  }

 private:
  void decode_wide(std::span<const std::byte> part, std::vector<std::byte>& out) {
    for (const std::byte byte : part) {
      if (!has_odd_) {
        odd_ = byte;
        has_odd_ = true;
        continue;
      }
      has_odd_ = false;
      const auto first = std::to_integer<char32_t>(odd_);
      const auto second = std::to_integer<char32_t>(byte);
      take_unit(encoding_ == TextEncoding::kUtf16Little ? second << 8 | first : first << 8 | second,
                out);
    }
  }

  void take_unit(char32_t unit, std::vector<std::byte>& out) {
    const bool is_low = unit >= 0xDC00 && unit < 0xE000;
    const bool is_high = unit >= 0xD800 && unit < 0xDC00;
    if (high_ != 0 && is_low) {
      append(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), out);
      high_ = 0;
      return;
    }
    if (high_ != 0) {
      append(kReplacement, out);
    }
    high_ = is_high ? unit : 0;
    if (!is_high && (unit != kMark || !at_begin_)) {
      append(is_low ? kReplacement : unit, out);
    }
    at_begin_ = false;
  }

  static void append(char32_t point, std::vector<std::byte>& out) {
    std::string text;
    bytes::append_utf8(point, text);
    std::transform(text.begin(), text.end(), std::back_inserter(out),
                   [](char letter) { return static_cast<std::byte>(letter); });
  }

  TextEncoding encoding_;
  std::size_t mark_left_ = kUtf8Mark.size();
  bool at_begin_ = true;
  std::byte odd_{};  // the first byte of a unit
  bool has_odd_ = false;
  char32_t high_ = 0;  // the first unit of a pair
};

class PlainTextSource final : public io::ByteSource {
 public:
  PlainTextSource(std::unique_ptr<io::ByteSource> text, TextEncoding encoding)
      : text_(std::move(text)), decoder_(encoding) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    while (at_ == decoded_.size() && !at_end_ && !into.empty()) {
      if (const Status status = fill(); !status) {
        return status.error();
      }
    }
    const std::size_t count = std::min(into.size(), decoded_.size() - at_);
    const auto part = std::span(decoded_).subspan(at_, count);
    std::copy(part.begin(), part.end(), into.begin());
    at_ += count;
    return count;
  }

  Result<std::size_t> read_at(std::uint64_t /*offset*/, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, kNoOffset, "text is decoded from its beginning"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  Status fill() {
    std::array<std::byte, kReadBytes> part{};
    const Result<std::size_t> count = text_->read(part);
    if (!count) {
      return count.error();
    }
    decoded_.clear();
    at_ = 0;
    at_end_ = *count == 0;
    decoder_.decode(std::span(part).first(*count), decoded_);
    if (at_end_) {
      decoder_.finish(decoded_);
    }
    return {};
  }

  std::unique_ptr<io::ByteSource> text_;
  TextDecoder decoder_;
  std::vector<std::byte> decoded_;
  std::size_t at_ = 0;
  bool at_end_ = false;
};

}  // namespace

TextEncoding text_encoding_of(std::span<const std::byte> head) {
  const std::string_view text = bytes::text_of(head);
  if (text.starts_with(kUtf8Mark)) {
    return TextEncoding::kMarkedUtf8;
  }
  if (text.starts_with("\xFF\xFE") || is_wide_ascii(head, 0)) {
    return TextEncoding::kUtf16Little;
  }
  if (text.starts_with("\xFE\xFF") || is_wide_ascii(head, 1)) {
    return TextEncoding::kUtf16Big;
  }
  return has_returns_alone(text) ? TextEncoding::kReturns : TextEncoding::kPlain;
}

std::vector<std::byte> plain_text_head(std::span<const std::byte> head, TextEncoding encoding) {
  std::vector<std::byte> decoded;
  TextDecoder(encoding).decode(head, decoded);
  return decoded;
}

std::unique_ptr<io::ByteSource> plain_text_source(std::unique_ptr<io::ByteSource> text,
                                                  TextEncoding encoding) {
  return std::make_unique<PlainTextSource>(std::move(text), encoding);
}

}  // namespace stackpack::codec
