// Commands that copy most of a file as it is do not copy damage along.
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "app/redact/redact.h"
#include "app/symbolize/symbolize.h"
#include "io/byte_source.h"
#include "spk/format/layout.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "support/file_bytes.h"
#include "support/source_folder.h"
#include "support/spk_file_maker.h"
#include "support/spk_reading.h"
#include "support/spk_recipe.h"
#include "support/spk_surgery.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;

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

  TEST_CASE(
      "copied blocks: a structure that verify refuses is refused, though its blocks are sound") {
    const ScratchDirectory folder;
    SpkContent content;
    content.samples.resize(2);
    for (StoredSample& sample : content.samples) {
      sample.stack = kNoStack;
    }
    auto recipe = take_recipe(spk_bytes(content));
    REQUIRE(recipe.has_value());
    ++recipe->samples.at(0).to_ns;  // the index says more than the block has
    const std::string input = folder.file("broken.spk");
    write_file(input, cook(std::move(*recipe)));
    const Status verified = std::move(Reader::open(input)).value()->verify();
    REQUIRE_FALSE(verified.has_value());
    const std::string output = folder.file("out.spk");
    const auto redacted = app::redact_file(input, output, {});
    REQUIRE_FALSE(redacted.has_value());
    CHECK(redacted.error().what == verified.error().what);
    const auto named = app::symbolize_file(input, output, {}, nullptr);
    REQUIRE_FALSE(named.has_value());
    CHECK(named.error().what == verified.error().what);
  }
}

}  // namespace
}  // namespace stackpack::test
