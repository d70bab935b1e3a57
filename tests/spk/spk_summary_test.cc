// The summary section: what it keeps, and what of it older writers left out.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/layout.h"
#include "spk/format/summary.h"
#include "support/spk_reading.h"
#include "support/spk_recipe.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;

Statistics lossy_statistics() {
  Statistics statistics;
  statistics.source_kind = "perf";
  statistics.source_bytes = 1000;
  statistics.source_parsed_bytes = 700;
  statistics.source_padding_bytes = 90;
  statistics.source_skipped_bytes = 210;
  statistics.source_skipped_by_reason = {{"auxtrace_data", 200}, {"record_cut", 10}};
  statistics.losses = {{"record_cut", LossKind::kDamage, 1, 990}};
  return statistics;
}

Bytes encoded(const Statistics& statistics) {
  spk::BlockContent content;
  encode_summary(statistics, "print", content);
  Bytes bytes;
  for (const std::span<const std::byte> part : content.parts()) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

struct Decoded {
  Status status;
  Statistics statistics;
  std::string fingerprint;
};

Decoded decoded(std::span<const std::byte> bytes) {
  Decoded result;
  result.status =
      spk::decode_summary(bytes::ByteCursor(bytes, 0), result.statistics, result.fingerprint);
  return result;
}

TEST_SUITE("spk summary") {
  TEST_CASE("spk summary: skipped bytes come back by reason") {
    const Decoded back = decoded(encoded(lossy_statistics()));
    REQUIRE(back.status.has_value());
    CHECK(back.fingerprint == "print");
    CHECK(back.statistics.source_skipped_bytes == 210);
    const auto& reasons = back.statistics.source_skipped_by_reason;
    REQUIRE(reasons.size() == 2);
    CHECK(reasons[0].reason == "auxtrace_data");
    CHECK(reasons[0].bytes == 200);
    CHECK(reasons[1].reason == "record_cut");
    CHECK(reasons[1].bytes == 10);
  }

  TEST_CASE("spk summary: one that ends after the losses has no reasons") {
    Statistics statistics = lossy_statistics();
    statistics.source_skipped_by_reason.clear();
    Bytes bytes = encoded(statistics);
    CHECK(bytes.back() == std::byte{0});  // the number of reasons
    bytes.pop_back();
    const Decoded back = decoded(bytes);
    REQUIRE(back.status.has_value());
    CHECK(back.statistics.source_skipped_by_reason.empty());
    CHECK(back.statistics.losses.size() == 1);
  }

  TEST_CASE("spk summary: where the records are not counted, each gave a sample") {
    Statistics statistics = lossy_statistics();
    statistics.samples.total = 7;
    statistics.samples.records = 5;
    Bytes bytes = encoded(statistics);
    CHECK(decoded(bytes).statistics.samples.records == 5);
    constexpr std::uint8_t kNumbersBefore = 31;
    REQUIRE(bytes.front() > std::byte{kNumbersBefore});
    const std::size_t added = std::to_integer<std::size_t>(bytes.front()) - kNumbersBefore;
    const auto end = bytes.begin() + 1 + 8 * std::ptrdiff_t{kNumbersBefore};
    bytes.erase(end, end + 8 * static_cast<std::ptrdiff_t>(added));
    bytes.front() = std::byte{kNumbersBefore};
    const Decoded older = decoded(bytes);
    REQUIRE(older.status.has_value());
    CHECK(older.statistics.samples.records == 7);
    CHECK(older.fingerprint == "print");
  }

  TEST_CASE("spk summary: what the builder did is not kept, and in older files passed over") {
    constexpr std::size_t kFirst = 19;
    constexpr std::size_t kLast = 24;
    Statistics statistics = lossy_statistics();
    const Bytes bytes = encoded(statistics);
    statistics.builder = {1, 2, 3, 4, 5, 6};
    CHECK(encoded(statistics) == bytes);
    statistics.processes = 7;  // the number after them
    const Bytes others = encoded(statistics);
    for (std::size_t number = kFirst; number <= kLast; ++number) {
      CAPTURE(number);
      Bytes older = others;
      older.at(1 + 8 * number) = std::byte{9};
      const Decoded back = decoded(older);
      REQUIRE(back.status.has_value());
      CHECK(back.statistics.builder.lookups + back.statistics.builder.probes +
                back.statistics.builder.frames + back.statistics.builder.prefix_frames +
                back.statistics.builder.map_bytes + back.statistics.builder.segments ==
            0);
      CHECK(back.statistics.processes == 7);
    }
  }

  TEST_CASE("spk summary: cut anywhere else it is refused, and bytes after it are ignored") {
    Bytes bytes = encoded(lossy_statistics());
    const std::size_t reasons = 1 + 1 + 13 + 2 + 1 + 10 + 1;  // bytes of them at the end
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      const Decoded back = decoded(std::span(bytes).first(size));
      CHECK(back.status.has_value() == (size == bytes.size() - reasons));
    }
    bytes.insert(bytes.end(), 20, std::byte{0xAB});
    CHECK(decoded(bytes).status.has_value());
  }

  TEST_CASE("spk summary: counts beyond the limit are refused before anything is kept") {
    Statistics statistics = lossy_statistics();
    statistics.source_skipped_by_reason.clear();
    Bytes bytes = encoded(statistics);
    bytes.pop_back();
    bytes::ByteWriter count;
    count.write_varint(spk::kMaxSummaryRows + 1);
    bytes.insert(bytes.end(), count.bytes().begin(), count.bytes().end());
    bytes.insert(bytes.end(), std::size_t{2} * (spk::kMaxSummaryRows + 1), std::byte{0});
    const Decoded back = decoded(bytes);
    REQUIRE_FALSE(back.status.has_value());
    CHECK(back.status.error().code == ErrorCode::kCorrupt);
    CHECK(back.statistics.source_skipped_by_reason.empty());
  }

  TEST_CASE("spk summary: reasons that do not add up are found by verify") {
    const Bytes good = spk_bytes(random_content(3, 12, 25));
    for (const std::uint8_t claimed : {std::uint8_t{0}, std::uint8_t{1}}) {
      std::optional<SpkRecipe> recipe = take_recipe(good);
      REQUIRE(recipe.has_value());
      for (SpkRecipe::Section& section : recipe->sections) {
        if (section.record.kind == static_cast<std::uint32_t>(spk::SectionKind::kSummary)) {
          Bytes& block = section.blocks.at(0);
          REQUIRE(block.back() == std::byte{0});
          block.back() = std::byte{1};
          block.insert(block.end(), {std::byte{1}, std::byte{'x'}, std::byte{claimed}});
        }
      }
      const Bytes file = cook(std::move(*recipe));
      const auto reader = open_spk(file);
      CHECK((failure(reader->verify()) == "spk: skipped bytes do not add up") == (claimed != 0));
    }
  }
}

}  // namespace
}  // namespace stackpack::test
