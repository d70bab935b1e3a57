// Frame dictionary and edge table.

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/read/edge_table.h"
#include "spk/read/frame_dictionary.h"
#include "spk/write/edge_counter.h"
#include "spk/write/edge_ranks.h"
#include "support/random_stacks.h"
#include "support/sanitizer.h"

namespace stackpack::spk {
namespace {

std::string scratch() {
  return std::filesystem::temp_directory_path().string();
}

std::vector<Frame> random_frames(test::Random& random, std::size_t count, unsigned width) {
  std::vector<Frame> frames;
  while (frames.size() < count) {
    for (std::size_t i = frames.size(); i < count; ++i) {
      frames.push_back({static_cast<FrameMode>(random.below(kFrameModeCount)),
                        random.next() & core::low_bits(width)});
    }
    std::sort(frames.begin(), frames.end());
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  }
  return frames;
}

using Blocks = std::vector<std::vector<std::byte>>;

Blocks blocks_of(const std::vector<CountedEdge>& edges, std::uint32_t frames) {
  Blocks blocks;
  EdgeBlockEncoder encoder(frames + 1, [&](BlockContent& content) -> Status {
    const auto bytes = content.bytes().bytes();
    blocks.emplace_back(bytes.begin(), bytes.end());
    return {};
  });
  for (const CountedEdge& edge : edges) {
    REQUIRE(encoder.add(edge));
  }
  REQUIRE(encoder.finish());
  return blocks;
}

// A table by the numbers of the file.
struct Table {
  EdgeTable edges;
  std::vector<std::uint32_t> in_file;    // by number in memory, the root included
  std::vector<std::uint32_t> in_memory;  // by number in the file

  [[nodiscard]] EdgeRow row(std::uint32_t number) const { return edges[in_memory[number]]; }
  [[nodiscard]] std::uint32_t child(const EdgeRow& row, std::uint32_t position) const {
    return in_file[edges.child(row, position)];
  }
  [[nodiscard]] std::uint32_t top(const EdgeRow& row) const { return in_file[row.top]; }
};

Table table_of(const std::vector<CountedEdge>& edges, std::uint32_t frames) {
  EdgeTableBuilder builder(frames);
  for (const std::vector<std::byte>& block : blocks_of(edges, frames)) {
    REQUIRE(builder.add_block(bytes::ByteCursor(block, 0)));
  }
  Table table{builder.finish().value(), builder.order(), {}};
  table.in_file.push_back(frames);
  table.in_memory.assign(frames + 1, frames + 1);
  for (std::uint32_t number = 0; number <= frames; ++number) {
    REQUIRE(table.in_memory[table.in_file[number]] == frames + 1);  // each once
    table.in_memory[table.in_file[number]] = number;
  }
  return table;
}

// The writer's table of the same edges, in so much memory (0: as much as it takes).
struct Ranks {
  EdgeRanks table;

  Ranks(const std::vector<CountedEdge>& edges, std::uint32_t frames, std::uint64_t memory_bytes)
      : table(frames, {scratch(), edges.size(), memory_bytes}) {
    for (const std::vector<std::byte>& block : blocks_of(edges, frames)) {
      REQUIRE(table.add_block(bytes::ByteCursor(block, 0)));
    }
    REQUIRE(table.finish());
  }
};

// Both tables have the same rows.
void check_ranks(const std::vector<CountedEdge>& edges, std::uint32_t frames) {
  const Table table = table_of(edges, frames);
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{1}}) {
    CAPTURE(memory);
    Ranks ranks(edges, frames, memory);
    for (std::uint32_t number = 0; number <= frames; ++number) {
      const EdgeRow expected = table.row(number);
      const Result<EdgeRow> row = ranks.table.row(number);
      REQUIRE(row.has_value());
      REQUIRE(row->size == expected.size);
      for (std::uint32_t rank = 0; rank < expected.size; ++rank) {
        const std::uint32_t position = table.edges.position(expected, rank);
        const auto place =
            ranks.table.place_of(*row, table.child(expected, position), position / 2);
        REQUIRE(place.has_value());
        REQUIRE(place->position == position);
        REQUIRE(place->rank == rank);
      }
    }
  }
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
        REQUIRE(decode_frame_block(bytes::ByteCursor(content.bytes().bytes(), 0),
                                   static_cast<std::uint32_t>(count), decoded));
        CHECK(decoded == frames);
        FrameDictionary dictionary;
        dictionary.append(std::span(frames).first(count / 2));
        dictionary.append(std::span(frames).subspan(count / 2));
        dictionary.seal();
        REQUIRE(dictionary.size() == count);
        std::vector<std::uint32_t> order;
        for (std::uint32_t i = 0; i < count; ++i) {
          REQUIRE(dictionary[i] == frames[i]);
          order.insert(order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2), i);
        }
        const FrameDictionary ordered = dictionary.in_order(order);
        REQUIRE(ordered.size() == count);
        for (std::uint32_t i = 0; i < count; ++i) {
          REQUIRE(ordered[i] == frames[order[i]]);
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
      CHECK_FALSE(decode_frame_block(bytes::ByteCursor(bytes, 0), count, decoded).has_value());
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK_FALSE(
          decode_frame_block(bytes::ByteCursor(bytes.first(size), 0), 50, decoded).has_value());
    }
  }

  TEST_CASE("edge table: rows of every length over block ends" *
            doctest::test_suite(test::kNoThreadsOfItsOwn)) {
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
    const Table table = table_of(edges, frames);
    CHECK(table.edges.row_count() == frames + 1);
    for (std::uint32_t number = 0; number <= frames; ++number) {
      const auto length = lengths.find(number);
      const EdgeRow row = table.row(number);
      REQUIRE(row.size == (length == lengths.end() ? 0 : length->second));
      for (std::uint32_t position = 0; position < row.size; ++position) {
        REQUIRE(table.child(row, position) == position);
      }
      const std::uint32_t top =
          row.size == 0 ? frames : table.child(row, table.edges.position(row, 0));
      REQUIRE(table.top(row) == top);
      if (row.size > 0 && number < frames) {
        REQUIRE(table.edges.tops()[table.in_memory[number]] == row.top);
      }
    }
    check_ranks(edges, frames);
  }

  TEST_CASE("edge table: numbers of frames around every power of two" *
            doctest::test_suite(test::kNoThreadsOfItsOwn)) {
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
      const Table table = table_of(edges, frames);
      const EdgeRow root = table.edges[table.edges.root()];
      REQUIRE(root.size == frames);
      for (std::uint32_t child = 0; child < frames; ++child) {
        REQUIRE(table.child(root, child) == child);
      }
      CHECK(table.top(table.row(frames - 1)) == frames - 1);
      CHECK(table.row(frames - 1).size == (frames > 1 ? 2 : 1));
      check_ranks(edges, frames);
    }
  }

  TEST_CASE("edge table: frames are numbered by how many children they have") {
    // 0 has one, 1 has 70, 2 has none, 3 has two, 4 has 64, 5 has 65, the others none; the root has
    // one, few, many.
    constexpr std::uint32_t kFrames = 80;
    const std::map<std::uint32_t, std::uint32_t> lengths{{0, 1}, {1, 70}, {3, 2}, {4, 64}, {5, 65}};
    for (const std::uint32_t of_root : {0U, 1U, 3U, 70U}) {
      CAPTURE(of_root);
      std::vector<CountedEdge> edges;
      for (const auto& [row, length] : lengths) {
        for (std::uint32_t child = 0; child < length; ++child) {
          edges.push_back({row, child, (child * 7919U) % 13});
        }
      }
      for (std::uint32_t child = 0; child < of_root; ++child) {
        edges.push_back({kFrames, child, (child * 31U) % 11});
      }
      const Table table = table_of(edges, kFrames);
      const std::vector<std::uint32_t> expected{1, 5, 3, 4, 0, 2, 6, 7};
      CHECK(std::equal(expected.begin(), expected.end(), table.in_file.begin()));
      CHECK(table.edges.inner_bits() == 3);
      for (const auto& [row, length] : lengths) {
        CHECK(table.row(row).size == length);
      }
      CHECK(table.row(kFrames).size == of_root);
      check_ranks(edges, kFrames);
    }
  }

  TEST_CASE("edge table: ranks go by class, then by position") {
    const std::vector<CountedEdge> edges{{0, 1, 0}, {0, 2, 9}, {0, 3, 8}, {0, 4, 100}, {1, 0, 5}};
    const Table table = table_of(edges, 5);
    const EdgeRow row = table.row(0);
    std::vector<std::uint32_t> ranked;
    for (std::uint32_t rank = 0; rank < row.size; ++rank) {
      ranked.push_back(table.child(row, table.edges.position(row, rank)));
    }
    CHECK(ranked == std::vector<std::uint32_t>{4, 2, 3, 1});  // 8 and 9 have the same class
  }

  TEST_CASE("edge table: blocks that do not fit are refused") {
    const std::vector<CountedEdge> edges{{0, 1, 1}, {0, 2, 1}, {2, 0, 1}, {3, 1, 4}};
    const Blocks blocks = blocks_of(edges, 3);
    REQUIRE(blocks.size() == 1);
    const std::span<const std::byte> bytes = blocks.front();
    for (const std::uint32_t frames : {0U, 1U, 2U, 4U}) {
      CAPTURE(frames);
      EdgeTableBuilder builder(frames);
      const bool added = builder.add_block(bytes::ByteCursor(bytes, 0)).has_value();
      CHECK_FALSE((added && builder.finish().has_value()));
    }
    EdgeTableBuilder twice(3);
    CHECK(twice.add_block(bytes::ByteCursor(bytes, 0)).has_value());
    CHECK_FALSE(twice.add_block(bytes::ByteCursor(bytes, 0)).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EdgeTableBuilder builder(3);
      CHECK_FALSE(builder.add_block(bytes::ByteCursor(bytes.first(size), 0)).has_value());
    }
  }

  TEST_CASE("edge ranks: nothing can be looked up before all rows came") {
    const std::vector<CountedEdge> edges{{0, 1, 1}, {2, 0, 1}};
    EdgeRanks ranks(2, {scratch(), edges.size(), 0});
    CHECK(ranks.finish().error().code == ErrorCode::kCorrupt);
  }

  TEST_CASE("edge counter: against a map, in memory and in runs") {
    // At 1.5 MB edges arrive in three parts, and all that were counted stay in memory.
    for (const std::uint64_t memory : {0U, 1U, 100'000U, 1'500'000U, 100'000'000U}) {
      CAPTURE(memory);
      test::Random random(8);
      EdgeCounter counter(scratch(), memory);
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> model;
      for (int i = 0; i < 50'000; ++i) {
        const auto row = static_cast<std::uint32_t>(random.below(300));
        const auto child = static_cast<std::uint32_t>(random.below(60));
        const bool first = random.below(2) == 0;
        REQUIRE(counter.add(row, child, first));
        model[{row, child}] += first ? 1 : 0;
      }
      const bool in_memory = memory == 0 || memory > 1'000'000;
      CHECK((counter.most_edges() == model.size()) == in_memory);
      CHECK(counter.most_edges() >= model.size());
      auto expected = model.begin();
      const Status visited = counter.for_each([&](const CountedEdge& edge) -> Status {
        REQUIRE(expected != model.end());
        CHECK(std::pair(edge.row, edge.child) == expected->first);
        CHECK(edge.first_count == expected->second);
        ++expected;
        return {};
      });
      REQUIRE(visited);
      CHECK(expected == model.end());
    }
  }
}

}  // namespace
}  // namespace stackpack::spk
