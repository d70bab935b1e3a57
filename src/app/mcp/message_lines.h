#pragma once

#include <cstddef>
#include <cstdint>
#include <streambuf>
#include <string>

namespace stackpack::app {

/// Lines of a stream whose other end is not trusted: however long a line is, kMostBytes of it are
/// in memory.
class MessageLines {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  enum class Kind : std::uint8_t {
    kLine,
    kTooLong,  ///< the line was passed over
    kEnd,
  };

  /// The stream must outlive this.
  explicit MessageLines(std::streambuf& stream) : stream_(stream) {}

  /// The next line that has more than blanks, without its end, into `line`. The last one need not
  /// have an end.
  Kind next(std::string& line);

 private:
  std::streambuf& stream_;
};

}  // namespace stackpack::app
