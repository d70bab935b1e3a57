#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/buffered_reader.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// The text of a source as RapidJSON reads it, from its beginning where that can be sought. A
/// failed read ends the text; status() says why.
class JsonStream {
 public:
  using Ch = char;

  explicit JsonStream(io::ByteSource& source)
      : reader_(source.seekable() ? io::BufferedReader(source, 0, ~std::uint64_t{0}, kWindow)
                                  : io::BufferedReader(source, 0, kWindow)) {
    fill();
  }
  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  [[nodiscard]] char Peek() const {
    return at_ < window_.size() ? std::to_integer<char>(window_[at_]) : '\0';
  }
  char Take() {
    const char letter = Peek();
    if (++at_ >= window_.size()) {
      reader_.consume(window_.size());
      fill();
    }
    return letter;
  }
  [[nodiscard]] std::size_t Tell() const {
    return static_cast<std::size_t>(reader_.offset()) + at_;
  }
  // Nothing is written in place.
  static char* PutBegin() { return nullptr; }
  static void Put(char /*letter*/) {}
  static void Flush() {}
  static std::size_t PutEnd(char* /*begin*/) { return 0; }
  // NOLINTEND(readability-identifier-naming)

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  static constexpr std::size_t kWindow = std::size_t{1} << 16;

  void fill() {
    at_ = 0;
    const auto bytes = reader_.peek(1);
    status_ = bytes ? Status{} : Status(bytes.error());
    window_ = bytes ? *bytes : std::span<const std::byte>();
  }

  io::BufferedReader reader_;
  std::span<const std::byte> window_;
  std::size_t at_ = 0;
  Status status_;
};

/// RapidJSON's events of a handler to which every number is a double: its number(double), and
/// text(std::string_view).
template <typename Handler>
class JsonScalars {
 public:
  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Int(int value) { return self().number(value); }
  bool Uint(unsigned value) { return self().number(value); }
  bool Int64(std::int64_t value) { return self().number(static_cast<double>(value)); }
  bool Uint64(std::uint64_t value) { return self().number(static_cast<double>(value)); }
  bool Double(double value) { return self().number(value); }
  static bool RawNumber(const char* /*text*/, unsigned /*size*/, bool /*copy*/) { return false; }
  bool String(const char* data, unsigned size, bool /*copy*/) { return self().text({data, size}); }
  // NOLINTEND(readability-identifier-naming)

 private:
  Handler& self() { return static_cast<Handler&>(*this); }
};

}  // namespace stackpack::capture
