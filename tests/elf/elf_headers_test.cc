#include "elf/elf_headers.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace stackpack;

namespace {

// Writes headers in any of the four forms of the format.
class HeaderMaker {
 public:
  HeaderMaker(bool is_64_bit, bool big) : is_64_bit_(is_64_bit), big_(big) {}

  HeaderMaker& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (big_ ? size - 1 - i : i);
      bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
  }
  HeaderMaker& half(std::uint64_t value) { return number(value, 2); }
  HeaderMaker& quarter(std::uint64_t value) { return number(value, 4); }
  HeaderMaker& word(std::uint64_t value) { return number(value, is_64_bit_ ? 8 : 4); }
  HeaderMaker& text(const char* all, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes_.push_back(static_cast<std::byte>(all[i]));
    }
    return *this;
  }

  HeaderMaker& segment(std::uint32_t type, std::uint32_t flags, std::uint64_t offset) {
    quarter(type);
    if (is_64_bit_) {
      quarter(flags);
    }
    word(offset).word(offset + 0x40'0000).word(0).word(0x10).word(0x20);
    if (!is_64_bit_) {
      quarter(flags);
    }
    return word(0x1000);
  }
  HeaderMaker& section(std::uint32_t name, std::uint32_t type, std::uint64_t offset,
                       std::uint64_t size, std::uint32_t link) {
    quarter(name).quarter(type).word(6).word(0x77).word(offset).word(size);
    return quarter(link).quarter(5).word(16).word(24);
  }

  [[nodiscard]] unsigned file_bytes() const { return is_64_bit_ ? 64 : 52; }
  [[nodiscard]] unsigned segment_bytes() const { return is_64_bit_ ? 56 : 32; }
  [[nodiscard]] unsigned section_bytes() const { return is_64_bit_ ? 64 : 40; }
  [[nodiscard]] bool is_64_bit() const { return is_64_bit_; }
  [[nodiscard]] bool big() const { return big_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  bool is_64_bit_;
  bool big_;
  std::vector<std::byte> bytes_;
};

constexpr char kNames[] = "\0.text\0.names";

// One segment, three sections, names. With `extended`, numbers of sections are in the first one.
std::vector<std::byte> elf_file(bool is_64_bit, bool big, bool extended) {
  HeaderMaker file(is_64_bit, big);
  const std::uint64_t sections_at = file.file_bytes() + file.segment_bytes();
  const std::uint64_t names_at = sections_at + 3 * file.section_bytes();
  file.text("\177ELF", 4).number(is_64_bit ? 2 : 1, 1).number(big ? 2 : 1, 1).number(1, 1);
  file.number(0, 8).number(0, 1);
  file.half(3).half(183).quarter(1).word(0x1234).word(file.file_bytes()).word(sections_at);
  file.quarter(9).half(file.file_bytes()).half(file.segment_bytes()).half(1);
  file.half(file.section_bytes()).half(extended ? 0 : 3).half(extended ? 0xFFFF : 2);
  file.segment(1, 5, 0x100);
  file.section(0, 0, 0, extended ? 3 : 0, extended ? 2 : 0);
  file.section(1, 1, 0x200, 0x30, 0).section(7, 3, names_at, sizeof kNames, 0);
  return file.text(kNames, sizeof kNames).bytes();
}

Result<elf::Headers> read(const std::vector<std::byte>& bytes) {
  const auto file = io::source_of_memory(bytes);
  return elf::read_headers(*file);
}

void check_headers(const elf::Headers& headers) {
  CHECK(headers.type == 3);
  CHECK(headers.machine == 183);
  CHECK(headers.flags == 9);
  CHECK(headers.entry == 0x1234);
  REQUIRE(headers.segments.size() == 1);
  const elf::Segment& segment = headers.segments[0];
  CHECK(segment.type == elf::kSegmentLoad);
  CHECK(segment.flags == 5);
  CHECK(segment.offset == 0x100);
  CHECK(segment.address == 0x40'0100);
  CHECK(segment.file_bytes == 0x10);
  CHECK(segment.memory_bytes == 0x20);
  CHECK(segment.alignment == 0x1000);
  REQUIRE(headers.sections.size() == 3);
  const elf::Section& text = headers.sections[1];
  CHECK(headers.name_of(text) == ".text");
  CHECK(text.flags == 6);
  CHECK(text.address == 0x77);
  CHECK(text.offset == 0x200);
  CHECK(text.size == 0x30);
  CHECK(text.info == 5);
  CHECK(text.alignment == 16);
  CHECK(text.entry_bytes == 24);
  CHECK(headers.name_of(headers.sections[2]) == ".names");
}

}  // namespace

TEST_SUITE("elf") {
  TEST_CASE("elf headers: both word sizes, both byte orders, numbers that do not fit") {
    for (const bool is_64_bit : {false, true}) {
      for (const bool big : {false, true}) {
        for (const bool extended : {false, true}) {
          CAPTURE(is_64_bit);
          CAPTURE(big);
          CAPTURE(extended);
          const Result<elf::Headers> headers = read(elf_file(is_64_bit, big, extended));
          REQUIRE(headers);
          CHECK(headers->is_64_bit == is_64_bit);
          CHECK((headers->order == bytes::ByteOrder::kBig) == big);
          CHECK(headers->is_little_64() == (is_64_bit && !big));
          check_headers(*headers);
        }
      }
    }
  }

  TEST_CASE("elf headers: a file that is cut anywhere") {
    const std::vector<std::byte> whole = elf_file(true, false, false);
    const std::uint64_t sections_at = 64 + 56;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      const Result<elf::Headers> headers =
          read(std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      if (size < 64) {
        REQUIRE_FALSE(headers);
        CHECK(headers.error().code == (size < 4   ? ErrorCode::kUnsupported
                                       : size < 6 ? ErrorCode::kCorrupt
                                                  : ErrorCode::kTruncated));
        continue;
      }
      REQUIRE(headers);
      CHECK(headers->segments.size() == (size < sections_at ? 0 : 1));
      CHECK(headers->sections.size() == (size < sections_at + 3 * 64 ? 0 : 3));
      CHECK(headers->names.empty());
    }
  }

  TEST_CASE("elf headers: names and tables outside the file") {
    std::vector<std::byte> bytes = elf_file(true, false, false);
    bytes[64 + 56 + 64] = std::byte{0xFF};  // the name of the second section
    Result<elf::Headers> headers = read(bytes);
    REQUIRE(headers);
    CHECK(headers->name_of(headers->sections[1]).empty());
    bytes[40 + 7] = std::byte{0x7F};  // where the sections are
    headers = read(bytes);
    REQUIRE(headers);
    CHECK(headers->sections.empty());
    CHECK(headers->segments.size() == 1);
  }
}
