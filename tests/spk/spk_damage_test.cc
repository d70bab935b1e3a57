// Files that are damaged, cut, forged or from another version.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/hash.h"
#include "codec/zstd_codec.h"
#include "spk/format/layout.h"
#include "stackpack/names.h"
#include "support/spk_reading.h"
#include "support/spk_recipe.h"
#include "support/spk_surgery.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;

SpkContent small_content() {
  SpkContent content = random_content(3, 12, 25);
  content.tables.processes = {{7, 1, 5, kUnknownTime, true, "name", "command line"}};
  content.tables.metadata = {{"key", "value"}};
  content.add_names = [](spk::NameWriter& names) {
    Function function;
    function.owner = FunctionOwner::kKernel;
    function.start = 16;
    function.size = 5;
    const Status added = names.add(function, {"f", "_f", "f.c"});
    return added ? names.add(InlinedCall{}, {"g", "", "f.c"}) : added;
  };
  content.losses = {{"lost_something", LossKind::kDamage, 3, 99}};
  return content;
}

/// Appends a block of zeros as a section that no reader of version 1.0 knows.
SpkParts with_unknown_section(SpkParts parts, std::uint32_t flags) {
  codec::ZstdCompressor zstd(3);
  Bytes frame;
  const Bytes zeros(100);
  REQUIRE(zstd.compress(zeros, frame));
  spk::SectionRecord section;
  section.kind = 4'711;
  section.flags = flags;
  section.offset = parts.head.size();
  section.stored_bytes = frame.size();
  section.raw_bytes = zeros.size();
  section.block_count = 1;
  section.blocks.push_back({static_cast<std::uint32_t>(frame.size()),
                            static_cast<std::uint32_t>(zeros.size()), bytes::xxh3_64(frame)});
  parts.head.insert(parts.head.end(), frame.begin(), frame.end());
  parts.directory.sections.push_back(section);
  return parts;
}

ErrorCode open_error(const Bytes& file) {
  const auto reader = Reader::open_memory(file);
  REQUIRE_FALSE(reader.has_value());
  return reader.error().code;
}

TEST_SUITE("spk damage") {
  TEST_CASE("spk damage: any byte changed gives an error or the same stacks, never others") {
    const SpkContent content = small_content();
    const std::vector<RootFirstStack> stacks = list_of(content.stacks);
    Bytes file = spk_bytes(content);
    REQUIRE(file.size() < 4'000);
    std::size_t same = 0;
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x10U, 0xFFU}) {
        file[at] ^= static_cast<std::byte>(flip);
        const auto reader = Reader::open_memory(file);
        if (reader) {
          const auto read_stacks = stacks_in(*reader.value());
          const auto read_samples = samples_in(*reader.value());
          if (!((!read_stacks || *read_stacks == stacks) &&
                (!read_samples || *read_samples == content.samples) &&
                !reader.value()->verify().has_value())) {
            CAPTURE(at);
            CAPTURE(flip);
            FAIL_CHECK("a changed byte went unnoticed");
          }
          same += read_stacks && read_samples ? 1U : 0U;
        }
        file[at] ^= static_cast<std::byte>(flip);
      }
    }
    CHECK(same > 0);  // a change in one section leaves the others readable
  }

  TEST_CASE("spk damage: a file cut anywhere does not open, nor one with bytes after it") {
    Bytes file = spk_bytes(small_content());
    for (std::size_t size = 0; size < file.size(); ++size) {
      const auto reader = Reader::open_memory(std::span(file).first(size));
      REQUIRE_FALSE(reader.has_value());
    }
    file.push_back(std::byte{0});
    CHECK_FALSE(Reader::open_memory(file).has_value());
  }

  TEST_CASE("spk damage: other files are claimed apart") {
    CHECK(open_error({}) == ErrorCode::kTruncated);
    CHECK(open_error(Bytes(1'000)) == ErrorCode::kCorrupt);
    Bytes file = spk_bytes(small_content());
    CHECK(open_error({file.begin(), file.begin() + 100}) == ErrorCode::kTruncated);
    CHECK(Reader::open("/nonexistent/file.spk").error().code == ErrorCode::kNotFound);
  }

  TEST_CASE("spk damage: newer major versions are refused, newer minor versions read") {
    const Bytes good = spk_bytes(small_content());
    const auto with_version = [&good](std::size_t at, std::uint8_t value) {
      Bytes file = good;
      const auto sign = [&file](std::size_t begin, std::size_t size) {
        const std::uint64_t hash = bytes::xxh3_64(std::span(file).subspan(begin, size));
        for (std::size_t i = 0; i < 8; ++i) {
          file[begin + size + i] = static_cast<std::byte>(hash >> (8 * i));
        }
      };
      file[at] = std::byte{value};
      sign(0, spk::kHeaderBytes - 8);
      sign(file.size() - spk::kTrailerBytes, spk::kTrailerBytes - 16);
      return file;
    };
    const std::size_t trailer_version = good.size() - spk::kTrailerBytes + 40;
    CHECK(Reader::open_memory(with_version(16, 1)).has_value());
    CHECK(open_error(with_version(16, 2)) == ErrorCode::kUnsupported);
    CHECK(open_error(with_version(trailer_version, 2)) == ErrorCode::kUnsupported);
    CHECK(Reader::open_memory(with_version(18, 9)).has_value());
    CHECK(Reader::open_memory(with_version(trailer_version + 2, 9)).has_value());
    CHECK(open_error(with_version(20, 1)) == ErrorCode::kCorrupt);  // reserved
  }

  TEST_CASE("spk damage: unknown sections are skipped when optional, refused when required") {
    const SpkContent content = small_content();
    const SpkParts parts = take_apart(spk_bytes(content));
    CHECK(parts.join() == spk_bytes(content));
    const Bytes optional = with_unknown_section(parts, 0).join();
    const auto reader = open_spk(optional);
    CHECK(stacks_in(*reader) == list_of(content.stacks));
    CHECK(failure(reader->verify()).empty());
    CHECK(reader->sections().at(reader->sections().size() - 3).name == "unknown_4711");
    CHECK(open_error(with_unknown_section(parts, spk::kSectionRequired).join()) ==
          ErrorCode::kUnsupported);
    CHECK(open_error(with_unknown_section(parts, spk::kSectionIndexed).join()) ==
          ErrorCode::kCorrupt);
    CHECK(open_error(with_unknown_section(parts, 8).join()) == ErrorCode::kCorrupt);
  }

  // Readers reserve memory by this number, and index arrays by stack ids below it.
  TEST_CASE("spk damage: a summary with another number of callstacks") {
    constexpr std::size_t kStackIds =
        1 + 12 * 8;  // place in the summary: after its count, number 12
    const Bytes good = spk_bytes(small_content());
    const auto count = static_cast<std::uint64_t>(small_content().stacks.size());
    for (const std::uint64_t claimed :
         {count - 1, count + 1, std::uint64_t{0xFFFF'FFFE}, ~std::uint64_t{0}}) {
      CAPTURE(claimed);
      std::optional<SpkRecipe> recipe = take_recipe(good);
      REQUIRE(recipe.has_value());
      for (SpkRecipe::Section& section : recipe->sections) {
        if (section.record.kind == static_cast<std::uint32_t>(spk::SectionKind::kSummary)) {
          for (std::size_t i = 0; i < 8; ++i) {
            section.blocks.at(0).at(kStackIds + i) = static_cast<std::byte>(claimed >> (8 * i));
          }
        }
      }
      const Bytes file = cook(std::move(*recipe));
      const auto reader = Reader::open_memory(file);
      if (claimed > count + 1) {
        CHECK_FALSE(reader.has_value());
        continue;
      }
      REQUIRE(reader.has_value());
      std::vector<Frame> frames;
      CHECK_FALSE(reader.value()->callstack(0, frames).has_value());
      CHECK_FALSE(reader.value()->verify().has_value());
    }
  }

  TEST_CASE("spk damage: counts of callstacks and events that are not there") {
    SpkContent content = small_content();
    spk::WriterOptions options;
    options.samples = false;
    const Bytes good = spk_bytes(content, options);
    std::size_t refused = 0;
    std::optional<SpkRecipe> recipe = take_recipe(good);
    REQUIRE(recipe.has_value());
    for (SpkRecipe::Section& section : recipe->sections) {
      if (section.record.kind != static_cast<std::uint32_t>(spk::SectionKind::kStackCounts)) {
        continue;
      }
      const std::size_t size = section.blocks.at(0).size();
      for (std::size_t at = 1; at < size; ++at) {
        SpkRecipe changed = *recipe;
        for (SpkRecipe::Section& other : changed.sections) {
          if (other.record.kind == section.record.kind) {
            other.blocks.at(0).at(at) ^= std::byte{0x40};
          }
        }
        const Bytes file = cook(std::move(changed));
        const auto reader = open_spk(file);
        const auto rows = reader->stack_counts();
        refused += rows.has_value() ? 0U : 1U;
        for (const StackCount& row : rows ? *rows : std::vector<StackCount>{}) {
          CHECK((row.stack == kNoStack || row.stack < reader->stack_count()));
          CHECK(row.event < content.events.size());
        }
      }
    }
    CHECK(refused > 0);
  }

  // Directories with right checksums whose numbers lie.
  TEST_CASE("spk damage: forged directories are refused where they lie") {
    using spk::SectionKind;
    struct Case {
      std::string name;
      std::string_view expected;  // an error that comes later than it should has another text
      std::function<void(SpkParts&)> forge;
    };
    constexpr std::uint64_t kHuge = ~std::uint64_t{0};
    const std::vector<Case> cases{
        {"frames: more", "spk: frames: modes",
         [](SpkParts& p) { ++p.section(SectionKind::kFrames).items; }},
        {"frames: fewer", "spk: frames: modes",
         [](SpkParts& p) { --p.section(SectionKind::kFrames).items; }},
        {"frames: huge", "spk: frames: too many",
         [](SpkParts& p) { p.section(SectionKind::kFrames).items = kHuge; }},
        {"nodes: more", "spk: page", [](SpkParts& p) { ++p.section(SectionKind::kPages).items; }},
        {"nodes: huge", "spk: summary: more callstacks than the file has room for",
         [](SpkParts& p) { p.section(SectionKind::kPages).items = kHuge; }},
        {"nodes: none", "spk: summary: more callstacks than the file has room for",
         [](SpkParts& p) { p.section(SectionKind::kPages).items = 0; }},
        {"pages: more", "spk: page index: number of pages",
         [](SpkParts& p) { ++p.section(SectionKind::kPages).block_count; }},
        {"pages: huge", "spk: page index: number of pages",
         [](SpkParts& p) { p.section(SectionKind::kPageIndex).items = kHuge; }},
        {"samples: more", "spk: sample index: sums",
         [](SpkParts& p) { ++p.section(SectionKind::kSamples).items; }},
        {"blocks: huge", "spk: sample index: sums",
         [](SpkParts& p) { p.section(SectionKind::kSampleIndex).items = kHuge; }},
        {"events: more", "spk: table: number of rows",
         [](SpkParts& p) { ++p.section(SectionKind::kEvents).items; }},
        {"events: huge", "spk: table: number of rows",
         [](SpkParts& p) { p.section(SectionKind::kEvents).items = kHuge; }},
        {"section shifted", "spk: directory: section record",
         [](SpkParts& p) { ++p.section(SectionKind::kEdges).offset; }},
        {"section longer", "spk: directory: section record",
         [](SpkParts& p) { ++p.section(SectionKind::kPages).stored_bytes; }},
        {"sizes overflow", "spk: directory: section record",
         [](SpkParts& p) { p.section(SectionKind::kPages).stored_bytes = kHuge; }},
        {"raw size", "spk: page index: sizes",
         [](SpkParts& p) { ++p.section(SectionKind::kPages).raw_bytes; }},
        {"kind twice", "spk: directory: section repeated or with wrong flags",
         [](SpkParts& p) { p.section(SectionKind::kMetadata).kind = 2; }},
        {"required section missing", "spk: directory: a required section is missing",
         [](SpkParts& p) {
           auto& section = p.section(SectionKind::kPageIndex);
           section.kind = 4'711;
           section.flags &= ~1U;  // optional, or it would be an unknown required one
         }},
    };
    const Bytes good = spk_bytes(small_content());
    for (const Case& test : cases) {
      CAPTURE(test.name);
      SpkParts parts = take_apart(good);
      test.forge(parts);
      const Bytes file = parts.join();
      const auto reader = Reader::open_memory(file);
      const Status status = reader ? reader.value()->verify() : Status(reader.error());
      REQUIRE_FALSE(status.has_value());
      CHECK(status.error().what == test.expected);
      CHECK((status.error().code == ErrorCode::kCorrupt ||
             status.error().code == ErrorCode::kUnsupported));
    }
  }
}

}  // namespace
}  // namespace stackpack::test
