// docs/format.md against src/spk/format/layout.h and a real file.
//
// The example in the document is checked byte for byte. When the format changes, the failure shows
// the bytes of the part that differs.

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <zstd.h>

#include "codec/zstd_codec.h"
#include "spk/format/layout.h"
#include "support/source_folder.h"
#include "support/spk_reading.h"
#include "support/spk_surgery.h"

namespace stackpack::test {
namespace {

const std::string kDocument = test::source_folder() + "/docs/format.md";
const std::string kLayout = test::source_folder() + "/src/spk/format/layout.h";

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The cells of every table row, backticks removed.
std::vector<std::vector<std::string>> table_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '|') {
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) {
      cells.push_back(std::regex_replace(cell, std::regex("^\\s+|\\s+$|`"), ""));
    }
    rows.push_back(cells);
  }
  return rows;
}

SpkContent example_content() {
  SpkContent content;
  const Frame main{FrameMode::kUser, 0x1000};
  const Frame parse{FrameMode::kUser, 0x1100};
  const Frame read{FrameMode::kUser, 0x1180};
  const Frame idle{FrameMode::kUser, 0x1400};
  content.stacks = {{main, idle}, {main, parse}, {main, parse, read}};
  content.events = {{"cpu-clock", true}};
  content.samples = {{{1'000, 7, 7, 0, 0, 250'000, StackOrigin::kRecorded, 0}, 1},
                     {{1'250, 7, 7, 0, 0, 250'000, StackOrigin::kRecorded, 0}, 2},
                     {{1'500, 7, 8, 1, 0, 250'000, StackOrigin::kRecorded, 0}, 0}};
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "main", ""}};
  content.fingerprint = "example";
  return content;
}

std::string name_of(std::uint32_t kind) {
  for (const spk::SectionName& name : spk::kSectionNames) {
    if (static_cast<std::uint32_t>(name.kind) == kind) {
      return std::string(name.name);
    }
  }
  return "?";
}

/// A part of a file and its bytes; those of a block decompressed.
struct Part {
  std::string name;
  std::vector<std::byte> bytes;
};

std::vector<Part> parts_of(const std::vector<std::byte>& file) {
  const auto copy = [&file](std::size_t begin, std::size_t end) {
    return std::vector(file.begin() + static_cast<std::ptrdiff_t>(begin),
                       file.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const SpkParts parts = take_apart(file);
  std::vector<Part> all{{"header", copy(0, spk::kHeaderBytes)}};
  codec::ZstdDecompressor zstd;
  for (const spk::SectionRecord& section : parts.directory.sections) {
    auto at = static_cast<std::size_t>(section.offset);
    const auto end = at + static_cast<std::size_t>(section.stored_bytes);
    while (at < end) {
      const std::size_t size = ZSTD_findFrameCompressedSize(&file[at], end - at);
      std::vector<std::byte> raw(
          static_cast<std::size_t>(ZSTD_getFrameContentSize(&file[at], end - at)));
      REQUIRE(zstd.decompress(std::span(file).subspan(at, size), raw));
      all.push_back({name_of(section.kind), raw});
      at += size;
    }
  }
  const std::size_t trailer = file.size() - spk::kTrailerBytes;
  all.push_back({"directory", copy(parts.head.size(), trailer)});
  all.push_back({"trailer", copy(trailer, file.size())});
  return all;
}

/// The parts that the document shows: a line with a name, then lines of bytes up to a '|' with what
/// they are; `00*7` is seven times 00.
std::vector<Part> parts_shown(const std::string& text) {
  std::vector<Part> parts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.front() != ' ') {
      parts.push_back({line.substr(0, line.find(' ')), {}});
      continue;
    }
    std::istringstream cells(line.substr(0, line.find('|')));
    for (std::string cell; cells >> cell;) {
      const std::size_t star = cell.find('*');
      const std::size_t times = star == std::string::npos ? 1 : std::stoul(cell.substr(star + 1));
      parts.back().bytes.insert(parts.back().bytes.end(), times,
                                static_cast<std::byte>(std::stoul(cell, nullptr, 16)));
    }
  }
  return parts;
}

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    char cell[4];
    std::snprintf(cell, sizeof cell, "%02x ", std::to_integer<unsigned>(byte));
    text += cell;
  }
  return text;
}

const std::map<std::string, std::uint64_t> kConstants{
#define STACKPACK_CONSTANT(name) {#name, spk::name}
    STACKPACK_CONSTANT(kFormatMajor),         STACKPACK_CONSTANT(kFormatMinor),
    STACKPACK_CONSTANT(kHeaderBytes),         STACKPACK_CONSTANT(kTrailerBytes),
    STACKPACK_CONSTANT(kDirectoryFixedBytes), STACKPACK_CONSTANT(kSectionRecordBytes),
    STACKPACK_CONSTANT(kBlockRecordBytes),    STACKPACK_CONSTANT(kMaxSections),
    STACKPACK_CONSTANT(kFramesPerBlock),      STACKPACK_CONSTANT(kEdgesPerBlock),
    STACKPACK_CONSTANT(kNodesPerPage),        STACKPACK_CONSTANT(kPagesPerIndexBlock),
    STACKPACK_CONSTANT(kSamplesPerBlock),     STACKPACK_CONSTANT(kSampleBlocksPerIndexBlock),
    STACKPACK_CONSTANT(kStackCountsPerBlock), STACKPACK_CONSTANT(kRowsPerTableBlock),
    STACKPACK_CONSTANT(kIntervalsPerBlock),   STACKPACK_CONSTANT(kMaxWaitReasons),
    STACKPACK_CONSTANT(kMaxWaitReasonBytes),  STACKPACK_CONSTANT(kValuesPerBlock),
    STACKPACK_CONSTANT(kMaxValueKinds),       STACKPACK_CONSTANT(kMaxValueNameBytes),
    STACKPACK_CONSTANT(kMaxValueFields),      STACKPACK_CONSTANT(kFieldRowsPerBlock),
    STACKPACK_CONSTANT(kMaxSampleFields),     STACKPACK_CONSTANT(kBranchEntriesPerBlock),
    STACKPACK_CONSTANT(kNamesPerBlock),       STACKPACK_CONSTANT(kMaxNameBytes),
    STACKPACK_CONSTANT(kMaxBlockBytes),       STACKPACK_CONSTANT(kMaxPageBytes),
    STACKPACK_CONSTANT(kMaxSampleBlockBytes), STACKPACK_CONSTANT(kMaxSummaryBytes),
    STACKPACK_CONSTANT(kMaxSummaryRows),      STACKPACK_CONSTANT(kFreeTableBytes),
    STACKPACK_CONSTANT(kFreeIntervals),       STACKPACK_CONSTANT(kIntervalsPerByte),
    STACKPACK_CONSTANT(kMostTableRatio),      STACKPACK_CONSTANT(kInlinedPerRow),
    STACKPACK_CONSTANT(kMaxStackDepth),       STACKPACK_CONSTANT(kMaxFrames),
    STACKPACK_CONSTANT(kPlaneColumn),         STACKPACK_CONSTANT(kMaxEdges),
    STACKPACK_CONSTANT(kMaxEdgeClass),        STACKPACK_CONSTANT(kBucketColumn),
    STACKPACK_CONSTANT(kMaxKeptBits),         STACKPACK_CONSTANT(kSpineEscape),
    STACKPACK_CONSTANT(kPopsEscape),          STACKPACK_CONSTANT(kChildEscape),
    STACKPACK_CONSTANT(kNoStackCode),         STACKPACK_CONSTANT(kDifferenceCode),
    STACKPACK_CONSTANT(kFirstGuessCode),      STACKPACK_CONSTANT(kStackGuesses),
    STACKPACK_CONSTANT(kUnwoundFlag),
#undef STACKPACK_CONSTANT
};

TEST_SUITE("spk document") {
  TEST_CASE("format.md: every constant of layout.h is compared with it") {
    // Constants that the document has in other words, and where they are compared.
    const std::set<std::string> elsewhere{
        "kMax32",  // the columns of 32 bits
        "kSkippableMagic",
        "kHeaderNibble",
        "kDirectoryNibble",
        "kTrailerNibble",
        "kHeaderMagic",
        "kTrailerMagic",          // the test of magic numbers
        "kSkippableHeaderBytes",  // the headers of the frames
        "kSectionRequired",
        "kSectionIndexed",
        "kSectionFlagMask",  // the flags of a section
        "kSectionNames",     // the test of sections
        "kNameSections",     // which of them are about names
        "kTableTextTarget",  // a writer's choice
    };
    std::set<std::string> defined;
    const std::string header = read_text(kLayout);
    const std::regex definition(R"(\bconstexpr\s+[\w:<>, ]+?\s(k\w+)\s*(=|\{))");
    for (std::sregex_iterator found(header.begin(), header.end(), definition), end; found != end;
         ++found) {
      defined.insert((*found)[1]);
    }
    std::set<std::string> expected = elsewhere;
    for (const auto& [name, value] : kConstants) {
      expected.insert(name);
    }
    CHECK(defined == expected);
  }

  TEST_CASE("format.md: the constants are those of layout.h") {
    std::map<std::string, std::uint64_t> documented;
    for (const std::vector<std::string>& row : table_rows(read_text(kDocument))) {
      if (row.size() == 3 && row[0].size() > 2 && row[0][0] == 'k' && row[1] != "Value") {
        documented[row[0]] = std::stoull(row[1]);
      }
    }
    CHECK(documented == kConstants);
  }

  TEST_CASE("format.md: the sections are those of layout.h") {
    using Row = std::vector<std::string>;
    std::map<std::string, Row> expected;
    for (const spk::SectionName& name : spk::kSectionNames) {
      const std::string number = std::to_string(static_cast<std::uint32_t>(name.kind));
      expected[number] = {std::string(name.name), name.required ? "yes" : "no",
                          name.indexed ? "yes" : "no"};
    }
    std::map<std::string, Row> documented;
    for (const Row& row : table_rows(read_text(kDocument))) {
      if (row.size() == 5 && (row[2] == "yes" || row[2] == "no")) {
        documented[row[0]] = {row[1], row[2], row[3]};
      }
    }
    CHECK(documented == expected);
  }

  TEST_CASE("format.md: magic numbers are those of layout.h") {
    const std::string text = read_text(kDocument);
    char magic[16];
    for (const unsigned nibble : {spk::kHeaderNibble, spk::kDirectoryNibble, spk::kTrailerNibble}) {
      std::snprintf(magic, sizeof magic, "0x%08X", spk::kSkippableMagic + nibble);
      CHECK(text.find(magic) != std::string::npos);
    }
    CHECK(text.find(spk::kHeaderMagic) != std::string::npos);
    CHECK(text.find(spk::kTrailerMagic) != std::string::npos);
  }

  TEST_CASE("format.md: the example is the file that the writer makes, part by part") {
    const SpkContent content = example_content();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    CHECK(stacks_in(*reader) == list_of(content.stacks));
    CHECK(samples_in(*reader) == content.samples);
    CHECK(failure(reader->verify()).empty());

    const std::string text = read_text(kDocument);
    const std::size_t fence = text.find("```\n", text.find("## 10. Example"));
    REQUIRE(fence != std::string::npos);
    const std::size_t begin = fence + 4;
    const std::vector<Part> shown =
        parts_shown(text.substr(begin, text.find("```", begin) - begin));
    std::vector<Part> parts = parts_of(file);
    // Of the directory its first section record is shown; sizes, hashes and what follows from them
    // depend on the version of libzstd.
    REQUIRE(shown.size() == parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::string expected = hex_of(parts[i].bytes);
      std::string found = hex_of(shown[i].bytes);
      constexpr unsigned kDocumentedZstd = 10'504;
      const bool depends = parts[i].name == "directory" || parts[i].name == "trailer" ||
                           parts[i].name == "page_index" || parts[i].name == "sample_index" ||
                           parts[i].name == "summary";
      if (depends && ZSTD_versionNumber() != kDocumentedZstd) {
        continue;
      }
      if (parts[i].name == "directory") {
        constexpr std::size_t kShown = 16 + spk::kSectionRecordBytes;
        CHECK(shown[i].bytes.size() == kShown);
        expected.resize(3 * kShown);
      }
      CAPTURE(i);
      CHECK(shown[i].name == parts[i].name);
      CHECK(found == expected);
    }
  }
}

}  // namespace
}  // namespace stackpack::test
