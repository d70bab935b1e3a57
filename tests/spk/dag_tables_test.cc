// Frame dictionary and edge table.

#include <algorithm>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "spk/edge_table.h"
#include "spk/frame_dictionary.h"
#include "support/random_stacks.h"

namespace stackpack::spk {
namespace {

std::vector<Frame> random_frames(test::Random& random, std::size_t count, unsigned width) {
  std::vector<Frame> frames;
  while (frames.size() < count) {
    for (std::size_t i = frames.size(); i < count; ++i) {
      frames.push_back(
          {static_cast<FrameMode>(random.below(kFrameModeCount)), random.next() & low_bits(width)});
    }
    std::sort(frames.begin(), frames.end());
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  }
  return frames;
}

Result<EdgeTable> table_of(const std::vector<CountedEdge>& edges, std::uint32_t frames) {
  EdgeBlockEncoder encoder(edges, frames + 1);
  EdgeTableBuilder builder(frames);
  while (!encoder.done()) {
    BlockContent content;
    encoder.encode(content);
    if (const Status added = builder.add_block(io::ByteCursor(content.bytes().bytes(), 0));
        !added) {
      return added.error();
    }
  }
  return builder.finish();
}

TEST_SUITE("spk tables") {
  TEST_CASE("frame dictionary: frames of every width come back, packed or not") {
    test::Random random(6);
    for (const unsigned width : {8U, 16U, 17U, 32U, 48U, 63U, 64U}) {
      for (const std::size_t count : {1U, 31U, 32U, 33U, 1'000U}) {
        CAPTURE(width);
        CAPTURE(count);
        const std::vector<Frame> frames = random_frames(random, count, width);
        BlockContent content;
        encode_frame_block(frames, content);
        std::vector<Frame> decoded;
        REQUIRE(decode_frame_block(io::ByteCursor(content.bytes().bytes(), 0),
                                   static_cast<std::uint32_t>(count), decoded));
        CHECK(decoded == frames);
        FrameDictionary dictionary;
        dictionary.append(std::span(frames).first(count / 2));
        dictionary.append(std::span(frames).subspan(count / 2));
        dictionary.seal();
        REQUIRE(dictionary.size() == count);
        for (std::uint32_t i = 0; i < count; ++i) {
          REQUIRE(dictionary[i] == frames[i]);
        }
      }
    }
  }

  TEST_CASE("frame dictionary: a wrong count and every prefix are refused") {
    test::Random random(7);
    const std::vector<Frame> frames = random_frames(random, 50, 40);
    BlockContent content;
    encode_frame_block(frames, content);
    const std::span<const std::byte> bytes = content.bytes().bytes();
    std::vector<Frame> decoded;
    for (const std::uint32_t count : {49U, 51U}) {
      CHECK_FALSE(decode_frame_block(io::ByteCursor(bytes, 0), count, decoded).has_value());
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK_FALSE(
          decode_frame_block(io::ByteCursor(bytes.first(size), 0), 50, decoded).has_value());
    }
  }

  TEST_CASE("edge table: rows of every length over block ends") {
    // Rows longer than a block, rows that end exactly with one, empty rows, single children.
    const std::uint32_t frames = 140'000;
    std::vector<CountedEdge> edges;
    const std::map<std::uint32_t, std::uint32_t> lengths{
        {0, 1}, {1, 65'535}, {2, 2}, {5, 139'999}, {6, 1}, {80'000, 3}, {frames, 70'000}};
    for (const auto& [row, length] : lengths) {
      for (std::uint32_t child = 0; child < length; ++child) {
        edges.push_back({row, child, (child * 7919U) % 13});
      }
    }
    const Result<EdgeTable> table = table_of(edges, frames);
    REQUIRE(table.has_value());
    CHECK(table->row_count() == frames + 1);
    for (std::uint32_t number = 0; number <= frames; ++number) {
      const auto length = lengths.find(number);
      const EdgeRow row = table.value()[number];
      REQUIRE(row.size == (length == lengths.end() ? 0 : length->second));
      for (std::uint32_t position = 0; position < row.size; ++position) {
        REQUIRE(table->child(row, position) == position);
      }
      REQUIRE(row.top == (row.size == 0 ? frames : table->child(row, table->position(row, 0))));
      REQUIRE(table->tops()[number] == row.top);
    }
  }

  TEST_CASE("edge table: numbers of frames around every power of two") {
    for (const std::uint32_t frames : {1U, 2U, 3U, 4U, 255U, 256U, 257U, 65'535U, 65'536U}) {
      CAPTURE(frames);
      // The root has all frames, the last frame the first and the last one, frame 0 itself.
      std::vector<CountedEdge> edges;
      for (const std::uint32_t row : {0U, frames - 1}) {
        if (edges.empty() || row != edges.back().row) {
          edges.push_back({row, 0, 1});
        }
      }
      if (frames > 1) {
        edges.push_back({frames - 1, frames - 1, 2});
      }
      for (std::uint32_t child = 0; child < frames; ++child) {
        edges.push_back({frames, child, child});
      }
      const Result<EdgeTable> table = table_of(edges, frames);
      REQUIRE(table.has_value());
      const EdgeRow root = table.value()[frames];
      REQUIRE(root.size == frames);
      for (std::uint32_t child = 0; child < frames; ++child) {
        REQUIRE(table->child(root, child) == child);
      }
      CHECK(table.value()[frames - 1].top == frames - 1);
      CHECK(table.value()[frames - 1].size == (frames > 1 ? 2 : 1));
    }
  }

  TEST_CASE("edge table: ranks go by class, then by position") {
    const std::vector<CountedEdge> edges{{0, 1, 0}, {0, 2, 9}, {0, 3, 8}, {0, 4, 100}, {1, 0, 5}};
    const Result<EdgeTable> table = table_of(edges, 5);
    REQUIRE(table.has_value());
    const EdgeRow row = table.value()[0];
    std::vector<std::uint32_t> ranked;
    for (std::uint32_t rank = 0; rank < row.size; ++rank) {
      ranked.push_back(table->child(row, table->position(row, rank)));
    }
    CHECK(ranked == std::vector<std::uint32_t>{4, 2, 3, 1});  // 8 and 9 have the same class
  }

  TEST_CASE("edge table: blocks that do not fit are refused") {
    const std::vector<CountedEdge> edges{{0, 1, 1}, {0, 2, 1}, {2, 0, 1}, {3, 1, 4}};
    EdgeBlockEncoder encoder(edges, 4);
    BlockContent content;
    encoder.encode(content);
    const std::span<const std::byte> bytes = content.bytes().bytes();
    for (const std::uint32_t frames : {0U, 1U, 2U, 4U}) {
      CAPTURE(frames);
      EdgeTableBuilder builder(frames);
      const bool added = builder.add_block(io::ByteCursor(bytes, 0)).has_value();
      CHECK_FALSE((added && builder.finish().has_value()));
    }
    EdgeTableBuilder twice(3);
    CHECK(twice.add_block(io::ByteCursor(bytes, 0)).has_value());
    CHECK_FALSE(twice.add_block(io::ByteCursor(bytes, 0)).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EdgeTableBuilder builder(3);
      CHECK_FALSE(builder.add_block(io::ByteCursor(bytes.first(size), 0)).has_value());
    }
  }

  TEST_CASE("edge counter: against a map") {
    test::Random random(8);
    EdgeCounter counter;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> model;
    for (int i = 0; i < 50'000; ++i) {
      const auto row = static_cast<std::uint32_t>(random.below(300));
      const auto child = static_cast<std::uint32_t>(random.below(60));
      const bool first = random.below(2) == 0;
      counter.add(row, child, first);
      model[{row, child}] += first ? 1 : 0;
    }
    CHECK(counter.size() == model.size());
    const std::vector<CountedEdge> edges = counter.take();
    REQUIRE(edges.size() == model.size());
    auto expected = model.begin();
    for (const CountedEdge& edge : edges) {
      CHECK(std::pair(edge.row, edge.child) == expected->first);
      CHECK(edge.first_count == expected->second);
      ++expected;
    }
  }
}

}  // namespace
}  // namespace stackpack::spk
