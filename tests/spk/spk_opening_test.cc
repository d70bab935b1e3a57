// Opening files whose parts lie in unusual places, or whose blocks are not what the directory
// says.
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/hash.h"
#include "codec/zstd_codec.h"
#include "spk/format/layout.h"
#include "spk/read/file_opener.h"
#include "support/failing_source.h"
#include "support/spk_reading.h"
#include "support/spk_surgery.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;
using spk::SectionKind;

// An optional section after the summary that no compressor shrinks.
Bytes with_section_behind(const Bytes& file, std::size_t bytes) {
  std::mt19937_64 random(bytes);
  Bytes content(bytes);
  for (std::byte& byte : content) {
    byte = static_cast<std::byte>(random());
  }
  Bytes frame;
  codec::ZstdCompressor zstd(1);
  REQUIRE(zstd.compress(content, frame));
  SpkParts parts = take_apart(file);
  spk::SectionRecord section;
  section.kind = 4'711;
  section.offset = parts.head.size();
  section.stored_bytes = frame.size();
  section.raw_bytes = content.size();
  section.block_count = 1;
  section.blocks.push_back({static_cast<std::uint32_t>(frame.size()),
                            static_cast<std::uint32_t>(content.size()), bytes::xxh3_64(frame)});
  parts.head.insert(parts.head.end(), frame.begin(), frame.end());
  parts.directory.sections.push_back(section);
  return parts.join();
}

TEST_SUITE("spk opening") {
  TEST_CASE("spk opening: a summary far from the end of the file takes one read more") {
    const SpkContent content = random_content(4, 20, 50);
    const Bytes plain = spk_bytes(content);
    const auto reads_of = [](const Bytes& file) {
      auto source = std::make_unique<FailingSource>(file, FailingSource::kNever);
      const FailingSource& counted = *source;
      spk::BlockReader blocks(std::move(source));
      spk::OpenedFile opened;
      REQUIRE(spk::open_file(blocks, opened).has_value());
      return counted.reads();
    };
    const Bytes near = with_section_behind(plain, 20'000);
    const Bytes far = with_section_behind(plain, 200'000);
    CHECK(reads_of(near) == reads_of(plain));
    CHECK(reads_of(far) == reads_of(plain) + 1);
    const auto reader = open_spk(far);
    CHECK(stacks_in(*reader) == list_of(content.stacks));
    CHECK(failure(reader->verify()).empty());
    spk::BlockReader blocks(std::make_unique<FailingSource>(far, reads_of(far) - 1));
    spk::OpenedFile opened;
    const Status status = spk::open_file(blocks, opened);
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().os_error == EIO);
  }

  TEST_CASE("spk opening: blocks that are not what the directory says") {
    struct Case {
      std::string name;
      SectionKind kind;
      std::uint32_t raw_bytes;  // what the directory says
      std::string_view what;
      bool opens = false;
    };
    const Bytes good = spk_bytes(random_content(4, 20, 50));
    const std::uint32_t frames_raw =
        take_apart(good).section(SectionKind::kFrames).blocks.at(0).raw_bytes;
    const Case cases[] = {
        {"a summary above its limit", SectionKind::kSummary, spk::kMaxSummaryBytes + 1,
         "spk: directory: no summary"},
        {"a summary of another size", SectionKind::kSummary, 7, "spk: summary is damaged"},
        {"a block above the limit", SectionKind::kFrames, spk::kMaxBlockBytes + 1,
         "spk: directory: block size"},
        {"a block of another size", SectionKind::kFrames, frames_raw + 1,
         "spk: block is not a zstd frame of the size in the directory", true},
    };
    for (const Case& c : cases) {
      CAPTURE(c.name);
      SpkParts parts = take_apart(good);
      spk::SectionRecord& section = parts.section(c.kind);
      REQUIRE(section.blocks.size() == 1);
      section.raw_bytes = section.blocks[0].raw_bytes = c.raw_bytes;
      const Bytes file = parts.join();
      const auto reader = Reader::open_memory(file);
      const Status status = reader ? (*reader)->verify() : Status(reader.error());
      REQUIRE_FALSE(status.has_value());
      CHECK(status.error().code == ErrorCode::kCorrupt);
      CHECK(status.error().what == c.what);
      CHECK(reader.has_value() == c.opens);
    }
  }

  TEST_CASE("spk opening: a table with texts is no larger than its bytes in the file allow") {
    SpkContent content = random_content(4, 20, 50);
    content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "program", ""}};
    content.tables.threads = {{7, 7, kUnknownTime, kUnknownTime, "main"}};
    content.tables.modules = {
        {7, 0x1000, 0x1000, 0, kUnknownTime, kUnknownTime, "/lib", BuildIdKind::kNone, {}, ""}};
    content.tables.metadata = {{"key", "value"}};
    const Bytes good = spk_bytes(content);
    const auto opened_with = [&good](SectionKind kind, std::uint64_t more) {
      SpkParts parts = take_apart(good);
      spk::SectionRecord& section = parts.section(kind);
      REQUIRE(section.blocks.size() == 1);
      const std::uint64_t raw =
          spk::kFreeTableBytes + section.stored_bytes * spk::kMostTableRatio + more;
      section.raw_bytes = raw;
      section.blocks[0].raw_bytes = static_cast<std::uint32_t>(raw);
      const Bytes file = parts.join();
      const auto reader = Reader::open_memory(file);
      return reader ? std::string() : std::string(reader.error().what);
    };
    for (const SectionKind kind :
         {SectionKind::kEvents, SectionKind::kProcesses, SectionKind::kThreads,
          SectionKind::kModules, SectionKind::kMetadata}) {
      CAPTURE(static_cast<std::uint32_t>(kind));
      CHECK(opened_with(kind, 0).empty());
      CHECK(opened_with(kind, 1) ==
            "spk: directory: a table is too large for its bytes in the file");
    }
    CHECK(opened_with(SectionKind::kFrames, 1).empty());  // rows alone
  }

  TEST_CASE("spk opening: more callstacks than there are nodes are refused") {
    const Bytes good = spk_bytes(random_content(4, 20, 50));
    SpkParts parts = take_apart(good);
    parts.section(SectionKind::kPages).items = 1;
    const Bytes file = parts.join();
    const auto reader = Reader::open_memory(file);
    REQUIRE_FALSE(reader.has_value());
    CHECK(reader.error().code == ErrorCode::kCorrupt);
    CHECK(reader.error().what == "spk: summary: more callstacks than the file has room for");
  }
}

}  // namespace
}  // namespace stackpack::test
