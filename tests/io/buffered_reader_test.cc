#include "io/buffered_reader.h"

#include <cerrno>
#include <cstdio>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "io/spill_file.h"
#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::io::BufferedReader;
using stackpack::io::ByteSource;

namespace {

std::vector<std::byte> counting_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  }
  return bytes;
}

// Gives a few bytes at a time and cannot seek: a slow pipe.
class TricklingSource final : public ByteSource {
 public:
  explicit TricklingSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  stackpack::Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), std::size_t{3}, bytes_.size() - position_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, into.begin());
    position_ += count;
    return count;
  }
  stackpack::Result<std::size_t> read_at(std::uint64_t, std::span<std::byte>) override {
    return stackpack::Error{ErrorCode::kUnsupported, 0, "no"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace

TEST_CASE("buffered reader: every step size sees the same bytes, from memory and from a pipe") {
  const std::vector<std::byte> bytes = counting_bytes(1000);
  for (std::size_t step = 1; step <= 16; ++step) {
    for (const bool pipe : {false, true}) {
      CAPTURE(step);
      CAPTURE(pipe);
      const auto memory = stackpack::io::source_of_memory(bytes);
      TricklingSource trickle(bytes);
      BufferedReader reader(pipe ? static_cast<ByteSource&>(trickle) : *memory, 0, 16);
      std::size_t at = 0;
      while (true) {
        const auto window = reader.peek(step);
        REQUIRE(window.has_value());
        if (window->empty()) {
          break;
        }
        REQUIRE(reader.offset() == at);
        const std::size_t count = std::min(step, window->size());
        REQUIRE(std::equal(window->begin(), window->begin() + static_cast<std::ptrdiff_t>(count),
                           bytes.begin() + static_cast<std::ptrdiff_t>(at)));
        reader.consume(count);
        at += count;
      }
      CHECK(at == bytes.size());
    }
  }
}

TEST_CASE("buffered reader: a range without bytes has none, and takes no memory for them") {
  const std::vector<std::byte> bytes = counting_bytes(100);
  const auto source = stackpack::io::source_of_memory(bytes);
  BufferedReader reader(*source, 40, 40, BufferedReader::kDefaultCapacity);
  const auto window = reader.peek(1000);
  REQUIRE(window.has_value());
  CHECK(window->empty());
  const auto passed = reader.skip(10);
  REQUIRE(passed.has_value());
  CHECK(*passed == 0);
  CHECK(reader.offset() == 40);
}

TEST_CASE("buffered reader: skipping goes past the window and stops at the end") {
  const std::vector<std::byte> bytes = counting_bytes(100);
  const auto memory = stackpack::io::source_of_memory(bytes);
  BufferedReader range(*memory, 10, 60, 16);
  CHECK(range.skip(30).value() == 30);
  CHECK(range.offset() == 40);
  CHECK(range.peek(1).value()[0] == bytes[40]);
  CHECK(range.skip(1000).value() == 20);
  CHECK(range.peek(1).value().empty());

  TricklingSource trickle(bytes);
  BufferedReader pipe(trickle, 0, 16);
  CHECK(pipe.skip(90).value() == 90);
  CHECK(pipe.peek(16).value().size() == 10);
  CHECK(pipe.skip(50).value() == 10);
}

TEST_CASE("spooling: a pipe becomes a seekable source; the limit is kept") {
  const std::vector<std::byte> bytes = counting_bytes(5000);
  TricklingSource trickle(bytes);
  const auto spooled = stackpack::io::spool_to_temporary(trickle, "/tmp", 5000);
  REQUIRE(spooled.has_value());
  CHECK((*spooled)->seekable());
  CHECK((*spooled)->size() == 5000);
  std::vector<std::byte> back(5000);
  CHECK((*spooled)->read_at(0, back).value() == 5000);
  CHECK(back == bytes);

  TricklingSource again(bytes);
  const auto refused = stackpack::io::spool_to_temporary(again, "/tmp", 4999);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kLimit);
}

TEST_CASE("spill file: blocks come back from their offsets") {
  stackpack::io::SpillFile spill("/tmp");
  const std::vector<std::byte> bytes = counting_bytes(300);
  CHECK(spill.append(bytes).value() == 0);
  CHECK(spill.append(std::span(bytes).first(10)).value() == 300);
  std::vector<std::byte> back(10);
  CHECK(spill.read_at(300, back).has_value());
  CHECK(std::equal(back.begin(), back.end(), bytes.begin()));
  CHECK_FALSE(spill.read_at(301, back).has_value());
}

TEST_CASE("spill file: without a place, or beyond the end, it is an I/O error") {
  stackpack::io::SpillFile nowhere("/nonexistent-directory");
  const auto refused = nowhere.append(counting_bytes(3));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kIo);
  CHECK(refused.error().os_error == ENOENT);
  CHECK(nowhere.size() == 0);

  stackpack::io::SpillFile spill("/tmp");
  REQUIRE(spill.write_at(100, counting_bytes(10)).has_value());  // a gap reads as zero
  CHECK(spill.size() == 110);
  std::vector<std::byte> back(20);
  REQUIRE(spill.read_at(90, back).has_value());
  CHECK(
      std::all_of(back.begin(), back.begin() + 10, [](std::byte b) { return b == std::byte{0}; }));
  CHECK(std::equal(back.begin() + 10, back.end(), counting_bytes(10).begin()));
  const stackpack::Status beyond = spill.read_at(100, back);
  REQUIRE_FALSE(beyond.has_value());
  CHECK(beyond.error().code == ErrorCode::kIo);
}
