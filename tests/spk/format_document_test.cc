// docs/format.md against src/spk/format/layout.h and a real file.
//
// The dump in the document is what this test makes. To renew it, run the test with
// STACKPACK_REWRITE=1 in the environment and look at the difference.

#include <cstdio>
#include <cstdlib>
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
  for (std::uint64_t i = 0; i < 4'200; ++i) {
    content.stacks.insert({main, {FrameMode::kUser, 0x2000 + 0x10 * i}});
  }
  content.events = {{"cpu-clock", true}};
  content.samples = {{{1'000, 7, 7, 0, 0, 250'000, StackOrigin::kRecorded, 0}, 0},
                     {{1'250, 7, 7, 1, 0, 250'000, StackOrigin::kRecorded, 0}, 4'199}};
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "main", ""}};
  content.fingerprint = "example";
  return content;
}

void dump_bytes(std::span<const std::byte> bytes, std::uint64_t offset, bool whole,
                std::string& text) {
  constexpr std::size_t kPerLine = 16;
  constexpr std::size_t kShown = 6 * kPerLine;
  for (std::size_t at = 0; at < bytes.size(); at += kPerLine) {
    if (!whole && bytes.size() > 2 * kShown && at == kShown) {
      text += "  ...\n";
      at = (bytes.size() - kPerLine) / kPerLine * kPerLine;
    }
    char cell[24];
    std::snprintf(cell, sizeof cell, "  %06llx", static_cast<unsigned long long>(offset + at));
    text += cell;
    for (std::size_t i = at; i < std::min(at + kPerLine, bytes.size()); ++i) {
      std::snprintf(cell, sizeof cell, " %02x", std::to_integer<unsigned>(bytes[i]));
      text += cell;
    }
    text += '\n';
  }
}

std::string name_of(std::uint32_t kind) {
  for (const spk::SectionName& name : spk::kSectionNames) {
    if (static_cast<std::uint32_t>(name.kind) == kind) {
      return std::string(name.name);
    }
  }
  return "?";
}

/// The whole file, part by part, with the contents of its blocks.
std::string dump_of(const std::vector<std::byte>& file) {
  const SpkParts parts = take_apart(file);
  const std::span<const std::byte> bytes(file);
  std::string text = "header\n";
  dump_bytes(bytes.first(spk::kHeaderBytes), 0, true, text);
  codec::ZstdDecompressor zstd;
  for (const spk::SectionRecord& section : parts.directory.sections) {
    std::size_t at = static_cast<std::size_t>(section.offset);
    const auto end = at + static_cast<std::size_t>(section.stored_bytes);
    while (at < end) {
      const std::size_t size = ZSTD_findFrameCompressedSize(&file[at], end - at);
      const auto raw_size = static_cast<std::size_t>(ZSTD_getFrameContentSize(&file[at], end - at));
      text += name_of(section.kind) + "\n";
      dump_bytes(bytes.subspan(at, size), at, true, text);
      std::vector<std::byte> raw(raw_size);
      REQUIRE(zstd.decompress(bytes.subspan(at, size), raw));
      text += "raw\n";
      dump_bytes(raw, 0, false, text);
      at += size;
    }
  }
  const std::size_t directory = parts.head.size();
  const std::size_t trailer = file.size() - spk::kTrailerBytes;
  text += "directory\n";
  dump_bytes(bytes.subspan(directory, trailer - directory), directory, true, text);
  text += "trailer\n";
  dump_bytes(bytes.subspan(trailer), trailer, true, text);
  return text;
}

/// The bytes of the file that a dump shows.
std::vector<std::byte> undump(const std::string& text) {
  std::vector<std::byte> file;
  std::istringstream lines(text);
  bool raw = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() != ' ') {
      raw = line == "raw";
      continue;
    }
    std::istringstream cells(line);
    std::string cell;
    cells >> cell;  // the offset
    while (!raw && cells >> cell) {
      file.push_back(static_cast<std::byte>(std::stoul(cell, nullptr, 16)));
    }
  }
  return file;
}

const std::map<std::string, std::uint64_t> kConstants{
#define STACKPACK_CONSTANT(name) {#name, spk::name}
    STACKPACK_CONSTANT(kFormatMajor),
    STACKPACK_CONSTANT(kFormatMinor),
    STACKPACK_CONSTANT(kHeaderBytes),
    STACKPACK_CONSTANT(kTrailerBytes),
    STACKPACK_CONSTANT(kDirectoryFixedBytes),
    STACKPACK_CONSTANT(kSectionRecordBytes),
    STACKPACK_CONSTANT(kBlockRecordBytes),
    STACKPACK_CONSTANT(kMaxSections),
    STACKPACK_CONSTANT(kFramesPerBlock),
    STACKPACK_CONSTANT(kEdgesPerBlock),
    STACKPACK_CONSTANT(kNodesPerPage),
    STACKPACK_CONSTANT(kPagesPerIndexBlock),
    STACKPACK_CONSTANT(kSamplesPerBlock),
    STACKPACK_CONSTANT(kSampleBlocksPerIndexBlock),
    STACKPACK_CONSTANT(kStackCountsPerBlock),
    STACKPACK_CONSTANT(kRowsPerTableBlock),
    STACKPACK_CONSTANT(kNamesPerBlock),
    STACKPACK_CONSTANT(kMaxNameBytes),
    STACKPACK_CONSTANT(kMaxBlockBytes),
    STACKPACK_CONSTANT(kMaxPageBytes),
    STACKPACK_CONSTANT(kMaxSampleBlockBytes),
    STACKPACK_CONSTANT(kMaxSummaryBytes),
    STACKPACK_CONSTANT(kMaxSummaryRows),
    STACKPACK_CONSTANT(kMaxStackDepth),
    STACKPACK_CONSTANT(kMaxFrames),
    STACKPACK_CONSTANT(kPlaneColumn),
    STACKPACK_CONSTANT(kMaxEdges),
    STACKPACK_CONSTANT(kMaxEdgeClass),
    STACKPACK_CONSTANT(kBucketColumn),
    STACKPACK_CONSTANT(kMaxKeptBits),
    STACKPACK_CONSTANT(kSpineEscape),
    STACKPACK_CONSTANT(kPopsEscape),
    STACKPACK_CONSTANT(kChildEscape),
    STACKPACK_CONSTANT(kNoStackCode),
    STACKPACK_CONSTANT(kDifferenceCode),
    STACKPACK_CONSTANT(kFirstGuessCode),
    STACKPACK_CONSTANT(kStackGuesses),
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

  TEST_CASE("format.md: the example is a file, and the one that the writer makes") {
    const SpkContent content = example_content();
    const std::string dump = dump_of(spk_bytes(content));
    std::string text = read_text(kDocument);
    const std::size_t fence = text.find("```\n", text.find("format_document_test.cc"));
    REQUIRE(fence != std::string::npos);
    const std::size_t begin = fence + 4;
    const std::size_t size = text.find("```", begin) - begin;
    if (std::getenv("STACKPACK_REWRITE") != nullptr) {
      std::ofstream(kDocument, std::ios::binary) << text.replace(begin, size, dump);
      return;
    }
    const std::string shown = text.substr(begin, size);
    const std::vector<std::byte> file = undump(shown);
    const auto reader = open_spk(file);
    CHECK(reader->statistics().dag.pages == 2);
    CHECK(stacks_in(*reader) == list_of(content.stacks));
    CHECK(samples_in(*reader) == content.samples);
    CHECK(failure(reader->verify()).empty());
    constexpr unsigned kDocumentedZstd = 10'504;  // another one may compress to other bytes
    if (ZSTD_versionNumber() == kDocumentedZstd) {
      CHECK(shown == dump);
    }
  }
}

}  // namespace
}  // namespace stackpack::test
