#include "codec/zip_directory.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "codec/zip_archive.h"
#include "codec/zip_layout.h"
#include "codec/zip_writer.h"
#include "support/test_bytes.h"

namespace stackpack::codec {

namespace {

using test::TestBytes;

// One stored member as an archive has it, with what a test wants to be otherwise.
struct MadeMember {
  std::string name = "t.etl";
  std::string content = "trace bytes";
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0x6B25'2520;  // of the content above
  bool is_zip64 = false;                 // sizes and offset are in the extra field
  bool has_descriptor = false;           // sizes of the local header are after the content
  std::string local_extra;
  std::optional<std::uint32_t> header_at;
};

struct MadeEnd {
  std::uint16_t disk = 0;
  std::optional<std::uint16_t> entries = std::nullopt;
  std::string comment = {};
  bool is_zip64 = false;
  std::uint64_t directory_moved = 0;
};

TestBytes archive_of(const std::vector<MadeMember>& members, const MadeEnd& end = {}) {
  constexpr std::uint32_t kElsewhere = 0xFFFF'FFFF;
  TestBytes zip;
  TestBytes directory;
  for (const MadeMember& member : members) {
    const auto size = static_cast<std::uint32_t>(member.content.size());
    const auto at = static_cast<std::uint32_t>(zip.bytes.size());
    const auto name_bytes = static_cast<std::uint16_t>(member.name.size());
    const auto flags = static_cast<std::uint16_t>(member.flags | (member.has_descriptor ? 8 : 0));
    const auto common = [&](TestBytes& out, std::uint32_t checksum, std::uint32_t bytes) {
      out.u16(20).u16(flags).u16(member.method).u16(0).u16(0x21).u32(checksum);
      out.u32(bytes).u32(bytes).u16(name_bytes);
    };
    zip.u32(kZipLocalHeader);
    common(zip, member.has_descriptor ? 0 : member.checksum, member.has_descriptor ? 0 : size);
    zip.u16(static_cast<std::uint16_t>(member.local_extra.size()));
    zip.text(member.name).text(member.local_extra).text(member.content);
    if (member.has_descriptor) {
      zip.u32(0x0807'4B50).u32(member.checksum).u32(size).u32(size);
    }
    directory.u32(kZipDirectoryEntry).u16(20);
    common(directory, member.checksum, member.is_zip64 ? kElsewhere : size);
    directory.u16(member.is_zip64 ? 36 : 0).u16(0).u16(0).u16(0).u32(0);
    directory.u32(member.is_zip64 ? kElsewhere : member.header_at.value_or(at)).text(member.name);
    if (member.is_zip64) {
      directory.u16(0x5455).u16(4).u32(7);  // another field comes first
      directory.u16(1).u16(24).u64(size).u64(size).u64(member.header_at.value_or(at));
    }
  }
  const std::uint64_t at = zip.bytes.size() + end.directory_moved;
  const auto bytes = static_cast<std::uint32_t>(directory.bytes.size());
  const auto entries = end.entries.value_or(static_cast<std::uint16_t>(members.size()));
  zip.append(directory.bytes);
  if (end.is_zip64) {
    const std::uint64_t record_at = zip.bytes.size();
    zip.u32(kZip64End).u64(44).u16(45).u16(45).u32(end.disk).u32(0).u64(entries).u64(entries);
    zip.u64(bytes).u64(at).u32(kZip64Locator).u32(0).u64(record_at).u32(1);
  }
  zip.u32(kZipEnd).u16(end.disk).u16(0);
  zip.u16(end.is_zip64 ? 0xFFFF : entries).u16(end.is_zip64 ? 0xFFFF : entries);
  zip.u32(end.is_zip64 ? kElsewhere : bytes);
  zip.u32(end.is_zip64 ? kElsewhere : static_cast<std::uint32_t>(at));
  return zip.u16(static_cast<std::uint16_t>(end.comment.size())).text(end.comment);
}

Error error_of(const TestBytes& zip) {
  const auto source = io::source_of_memory(zip.bytes);
  const auto archive = ZipArchive::open(*source);
  if (!archive) {
    return archive.error();
  }
  for (std::size_t i = 0; i < (*archive)->members().size(); ++i) {
    if (const auto content = (*archive)->read(i, 1000); !content) {
      return content.error();
    }
  }
  return {};
}

void check_content(const TestBytes& zip) {
  const auto source = io::source_of_memory(zip.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE(archive.has_value());
  REQUIRE((*archive)->members().size() == 1);
  CHECK((*archive)->members()[0].name == "t.etl");
  const auto content = (*archive)->read(0, 1000);
  REQUIRE(content.has_value());
  CHECK(*content == TestBytes().text("trace bytes").bytes);
}

}  // namespace

TEST_CASE("zip directory: what writers put around a member does not change it") {
  MadeMember member;
  check_content(archive_of({member}));
  check_content(archive_of({member}, {.comment = "of the day"}));
  check_content(archive_of({member}, {.comment = std::string(0xFFFF, 'x')}));
  // A comment that looks like the end of an archive, whose own comment does not end with the file.
  check_content(archive_of({member}, {.comment = "PK\x05\x06" + std::string(30, 'x')}));
  check_content(archive_of({member}, {.is_zip64 = true}));
  member.local_extra = std::string(40, 'e');
  check_content(archive_of({member}));
  member.is_zip64 = true;
  check_content(archive_of({member}, {.is_zip64 = true}));
  member.has_descriptor = true;
  check_content(archive_of({member}));
}

TEST_CASE("zip directory: what cannot be read is refused with its reason") {
  struct Case {
    std::uint16_t flags;
    std::uint16_t method;
    std::string_view reason;
  };
  const Case cases[] = {
      {1, 0, "zip: member is encrypted; unpack it first"},
      {0, 99, "zip: member is encrypted; unpack it first"},
      {0, 9, "zip: member is packed by Deflate64, which is not read here; unpack it first"},
      {0, 12, "zip: member is packed by bzip2, which is not read here; unpack it first"},
      {0, 14, "zip: member is packed by LZMA, which is not read here; unpack it first"},
      {0, 93, "zip: member is packed by zstd, which is not read here; unpack it first"},
      {0, 95, "zip: member is packed by xz, which is not read here; unpack it first"},
      {0, 1, "zip: member is packed by a method that is not read here; unpack it first"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.reason);
    MadeMember second;
    second.flags = c.flags;
    second.method = c.method;
    const Error error = error_of(archive_of({MadeMember(), second}));
    CHECK(error.code == ErrorCode::kUnsupported);
    CHECK(error.offset == 46);  // of the second member
    CHECK(error.what == c.reason);
  }
  const Error parts = error_of(archive_of({MadeMember()}, {.disk = 1}));
  CHECK(parts.code == ErrorCode::kUnsupported);
  CHECK(parts.what == "zip: a part of a multi-part archive");
  CHECK(error_of(archive_of({MadeMember()}, {.disk = 1, .is_zip64 = true})).what == parts.what);
}

TEST_CASE("zip directory: members that share a byte are refused, wherever it is") {
  // The second member begins inside the header, the name, the content of the first one, or is it.
  for (const std::uint32_t at : {0U, 1U, 29U, 30U, 34U, 35U, 45U}) {
    CAPTURE(at);
    MadeMember second;
    second.header_at = at;
    const Error error = error_of(archive_of({MadeMember(), second}));
    CHECK(error.code == ErrorCode::kCorrupt);
  }
  CHECK(error_of(archive_of({MadeMember(), MadeMember()})).what.empty());

  // A local header says that its name is longer than there is room before the next member.
  TestBytes longer = archive_of({MadeMember(), MadeMember()});
  longer.bytes[26] = std::byte{6};
  CHECK(error_of(longer).what == "zip: members overlap");
}

TEST_CASE("zip directory: a directory that lies is damaged") {
  for (const std::uint16_t entries :
       {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{3}, std::uint16_t{60'000}}) {
    CAPTURE(entries);
    const Error error = error_of(archive_of({MadeMember(), MadeMember()}, {.entries = entries}));
    CHECK(error.code == ErrorCode::kCorrupt);
    CHECK(error.what == "zip: the directory of members is damaged");
  }
  for (const std::uint64_t moved : {std::uint64_t{1}, std::uint64_t{46}, ~std::uint64_t{0}}) {
    CAPTURE(moved);
    CHECK(error_of(archive_of({MadeMember()}, {.directory_moved = moved})).code ==
          ErrorCode::kCorrupt);
    CHECK(error_of(archive_of({MadeMember()}, {.is_zip64 = true, .directory_moved = moved})).code ==
          ErrorCode::kCorrupt);
  }
  MadeMember member;
  member.header_at = 0xFFFF'FFF0;
  CHECK(error_of(archive_of({member})).code == ErrorCode::kCorrupt);
  member.is_zip64 = true;
  CHECK(error_of(archive_of({member})).code == ErrorCode::kCorrupt);
  // The local header is of another method, or not encrypted: one of the two lies.
  for (const std::size_t at : {std::size_t{6}, std::size_t{8}}) {
    TestBytes other = archive_of({MadeMember()});
    other.bytes[at] ^= std::byte{1};
    CHECK(error_of(other).code == ErrorCode::kCorrupt);
  }
}

TEST_CASE("zip directory: no byte of an archive with zip64 is trusted") {
  MadeMember member;
  member.is_zip64 = true;
  member.has_descriptor = true;
  const TestBytes good = archive_of({member}, {.is_zip64 = true});
  for (std::size_t cut = 0; cut < good.bytes.size(); ++cut) {
    TestBytes bad = good;
    bad.bytes.resize(cut);
    CHECK_FALSE(error_of(bad).what.empty());
  }
  for (std::size_t at = 0; at < good.bytes.size(); ++at) {
    for (const unsigned flip : {1U, 0x80U, 0xFFU}) {
      CAPTURE(at);
      TestBytes bad = good;
      bad.bytes[at] ^= static_cast<std::byte>(flip);
      const auto source = io::source_of_memory(bad.bytes);
      const auto archive = ZipArchive::open(*source);
      if (archive && (*archive)->members().size() == 1) {
        const auto content = (*archive)->read(0, 1000);
        CHECK((!content || *content == TestBytes().text("trace bytes").bytes));
      }
    }
  }
}

TEST_CASE("zip directory: a directory beyond the bound is refused before it is read") {
  const std::vector<std::byte> huge(static_cast<std::size_t>(kMostZipDirectoryBytes) + 100);
  TestBytes zip;
  zip.append(huge);
  zip.u32(kZipEnd).u16(0).u16(0).u16(1).u16(1).u32(static_cast<std::uint32_t>(huge.size()));
  zip.u32(0).u16(0);
  CHECK(error_of(zip).code == ErrorCode::kLimit);
}

TEST_CASE("zip names: UTF-8 where it is, else code page 437") {
  CHECK(zip_name("a.etl", false) == "a.etl");
  CHECK(zip_name("\xC3\xA9t\xC3\xA9", false) == "été");
  CHECK(zip_name("\x82t\x82", false) == "été");
  CHECK(zip_name("\xFF\x80", false) == "\u00A0Ç");
  CHECK(zip_name("\x82", true) == "\x82");  // it says that it is UTF-8: left as it is
}

TEST_CASE("zip writer: knows its own archives from those of others") {
  const auto begin_of = [](const std::function<void(ZipWriter&)>& fill) {
    std::vector<std::byte> bytes;
    ZipWriter zip([&bytes](std::span<const std::byte> more) {
      bytes.insert(bytes.end(), more.begin(), more.end());
      return Status();
    });
    fill(zip);
    REQUIRE(zip.finish().has_value());
    bytes.resize(std::min<std::size_t>(bytes.size(), 64));
    return bytes;
  };
  const auto with = [&](const char* name) {
    return begin_of([name](ZipWriter& zip) { REQUIRE(zip.add(name, {}).has_value()); });
  };
  CHECK(ZipWriter::wrote(with("bundle/a"), "bundle/"));
  CHECK(ZipWriter::wrote(begin_of([](ZipWriter&) {}), "bundle/"));
  CHECK_FALSE(ZipWriter::wrote(with("photo.jpg"), "bundle/"));
  CHECK_FALSE(ZipWriter::wrote({}, "bundle/"));
  // Any other version, flag, method or date than the writer's.
  for (std::size_t at = 0; at < 14; ++at) {
    CAPTURE(at);
    std::vector<std::byte> other = with("bundle/a");
    other[at] ^= std::byte{1};
    CHECK_FALSE(ZipWriter::wrote(other, "bundle/"));
  }
}

}  // namespace stackpack::codec
