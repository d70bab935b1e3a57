// Commands that copy most of a file as it is do not copy damage along.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/redact/redact.h"
#include "app/symbolize/symbolize.h"
#include "io/byte_source.h"
#include "spk/format/layout.h"
#include "spk/read/block_reader.h"
#include "spk/read/file_opener.h"
#include "spk/read/stored_blocks.h"
#include "stackpack/convert.h"
#include "support/file_bytes.h"
#include "support/sanitizer.h"
#include "support/source_folder.h"
#include "support/spk_reading.h"
#include "support/spk_surgery.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;

Status stored_blocks_of(const Bytes& file) {
  spk::BlockReader blocks(io::source_of_memory(file));
  spk::OpenedFile opened;
  if (const Status status = spk::open_file(blocks, opened); !status) {
    return status;
  }
  return spk::check_stored_blocks(blocks, opened.directory);
}

Bytes branches_as_spk(const ScratchDirectory& folder) {
  const std::string output = folder.file("branches.spk");
  ConvertOptions options;
  options.keep_branches = true;
  const auto made =
      convert(source_folder() + "/testdata/branches/loop.perf.data.gz", output, options, nullptr);
  REQUIRE_MESSAGE(made.has_value(), failure(made));
  return read_test_file(output);
}

TEST_SUITE("copied blocks") {
  TEST_CASE("copied blocks: a byte changed in any block is found without decoding one") {
    const ScratchDirectory folder;
    std::vector<Bytes> files{branches_as_spk(folder)};
    for (const char* const name : {"etl-sampled", "perf-file-counts", "synthetic-pages"}) {
      files.push_back(
          read_test_file(source_folder() + "/testdata/spk/v1/" + name + std::string(".spk")));
    }
    for (Bytes& file : files) {
      CHECK(stored_blocks_of(file).has_value());
      const std::size_t end = take_apart(file).head.size();
      for (std::size_t at = spk::kHeaderBytes; at < end; at += byte_step()) {
        file[at] ^= std::byte{0x40};
        const Status status = stored_blocks_of(file);
        file[at] ^= std::byte{0x40};
        REQUIRE_FALSE_MESSAGE(status.has_value(), at);
        CHECK(status.error().code == ErrorCode::kCorrupt);
      }
    }
  }

  TEST_CASE("copied blocks: an index lists the bytes of its section, no more and no less") {
    const ScratchDirectory folder;
    const Bytes file = branches_as_spk(folder);
    for (const spk::SectionKind kind :
         {spk::SectionKind::kPages, spk::SectionKind::kSamples, spk::SectionKind::kCyclePages}) {
      for (const int more : {-1, 1}) {
        SpkParts parts = take_apart(file);
        parts.section(kind).stored_bytes += static_cast<std::uint64_t>(more);
        spk::BlockReader blocks(io::source_of_memory(file));
        const Status status = spk::check_stored_blocks(blocks, parts.directory);
        REQUIRE_FALSE(status.has_value());
        CHECK(status.error().offset == parts.section(kind).offset);
        CHECK(std::string(status.error().what) == "spk: index: sizes");
      }
    }
  }

  TEST_CASE("copied blocks: redact and symbolize refuse a file with a damaged block of samples") {
    const ScratchDirectory folder;
    Bytes file = branches_as_spk(folder);
    SpkParts parts = take_apart(file);
    for (const spk::SectionKind kind :
         {spk::SectionKind::kSamples, spk::SectionKind::kBranchPages}) {
      const std::uint64_t offset = parts.section(kind).offset;
      Bytes damaged = file;
      damaged.at(static_cast<std::size_t>(offset) + 6) ^= std::byte{1};
      const std::string input = folder.file("damaged.spk");
      write_file(input, damaged);
      const std::string output = folder.file("out.spk");
      const auto redacted = app::redact_file(input, output, {});
      REQUIRE_FALSE(redacted.has_value());
      CHECK(redacted.error().code == ErrorCode::kCorrupt);
      CHECK(redacted.error().offset == offset);
      const auto named = app::symbolize_file(input, output, {}, nullptr);
      REQUIRE_FALSE(named.has_value());
      CHECK(named.error().code == ErrorCode::kCorrupt);
      CHECK(named.error().offset == offset);
      CHECK_FALSE(io::open_source(output).has_value());
    }
  }
}

}  // namespace
}  // namespace stackpack::test
