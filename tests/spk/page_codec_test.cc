#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/read/page_decoder.h"
#include "spk/write/edge_counter.h"
#include "spk/write/page_encoder.h"
#include "support/sanitizer.h"
#include "support/spk_reading.h"

namespace stackpack::spk {
namespace {

/// The pages of a DAG, with what is needed to decode them.
struct Pages {
  EdgeTable edges;
  FrameDictionary dictionary;
  std::vector<std::vector<std::byte>> contents;
  std::vector<PageDecoder::Expected> expected;
};

// The edges of a DAG in blocks.
std::vector<std::vector<std::byte>> edge_blocks_of(const dag::FrozenDag& dag) {
  const auto frames = static_cast<std::uint32_t>(dag.dictionary.size());
  EdgeCounter counter(".", 0);
  std::vector<std::uint32_t> path;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    const bool first = dag.depth[i] == path.size() + 1;
    path.resize(dag.depth[i] - 1U);
    REQUIRE(counter.add(path.empty() ? frames : path.back(), dag.frame[i], first));
    path.push_back(dag.frame[i]);
  }
  std::vector<std::vector<std::byte>> blocks;
  EdgeBlockEncoder encoder(frames + 1, [&](BlockContent& content) -> Status {
    const auto bytes = content.bytes().bytes();
    blocks.emplace_back(bytes.begin(), bytes.end());
    return {};
  });
  REQUIRE(counter.for_each([&](const CountedEdge& edge) { return encoder.add(edge); }));
  REQUIRE(encoder.finish());
  return blocks;
}

Pages pages_of(const test::StackSet& stacks) {
  const dag::FrozenDag dag = test::frozen_dag_of(stacks);
  Pages pages;
  const auto frames = static_cast<std::uint32_t>(dag.dictionary.size());
  EdgeTableBuilder builder(frames);
  EdgeRanks ranks(frames, {});
  for (const std::vector<std::byte>& block : edge_blocks_of(dag)) {
    REQUIRE(builder.add_block(bytes::ByteCursor(block, 0)));
    REQUIRE(ranks.add_block(bytes::ByteCursor(block, 0)));
  }
  REQUIRE(ranks.finish());
  pages.edges = builder.finish().value();
  FrameDictionary as_in_file;
  as_in_file.append(dag.dictionary);
  as_in_file.seal();
  pages.dictionary = as_in_file.in_order(builder.order());
  PageEncoder encoder(ranks);
  std::uint64_t first_node = 0;
  std::uint64_t first_stack = 0;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    REQUIRE(encoder.add({dag.frame[i], dag.depth[i], dag.ends(i)}));
    if (!encoder.full() && i + 1 < dag.node_count()) {
      continue;
    }
    BlockContent content;
    const std::uint32_t ended = encoder.encode(content);
    const auto nodes = static_cast<std::uint32_t>(i + 1 - first_node);
    const auto bytes = content.bytes().bytes();
    pages.contents.emplace_back(bytes.begin(), bytes.end());
    pages.expected.push_back({first_node, first_stack, nodes, ended, 0});
    first_node += nodes;
    first_stack += ended;
  }
  return pages;
}

Result<ResidentPage> decode(const Pages& pages, std::size_t number,
                            std::span<const std::byte> content) {
  PageDecoder decoder;
  return decoder.decode(content, pages.edges, pages.dictionary, pages.expected[number]);
}

ResidentPage first_page(const Pages& pages) {
  Result<ResidentPage> page = decode(pages, 0, pages.contents.front());
  REQUIRE(page.has_value());
  return std::move(page).value();
}

// Decodes every page alone, from the last to the first, and compares all callstacks; some of them
// are read without making the page, too.
std::vector<ResidentPage> check_pages_of(const test::StackSet& stacks) {
  const std::vector<test::RootFirstStack> expected = test::list_of(stacks);
  const Pages pages = pages_of(stacks);
  std::vector<ResidentPage> decoded;
  std::vector<Frame> frames;
  std::vector<Frame> alone;
  PageDecoder decoder;
  for (std::size_t number = pages.contents.size(); number-- > 0;) {
    Result<ResidentPage> page = decode(pages, number, pages.contents[number]);
    REQUIRE(page.has_value());
    CHECK(page->node_count() == pages.expected[number].nodes);
    for (std::uint32_t stack = 0; stack < page->stack_count(); ++stack) {
      page->read_stack(stack, pages.dictionary, pages.edges, frames);
      const auto id = static_cast<std::size_t>(pages.expected[number].first_stack) + stack;
      REQUIRE(test::RootFirstStack(frames.rbegin(), frames.rend()) == expected[id]);
      if (stack % 17 == 0 || stack + 1 == page->stack_count()) {
        alone.clear();
        REQUIRE(decoder.read_stack(pages.contents[number], pages.edges, pages.dictionary,
                                   pages.expected[number], stack, alone));
        REQUIRE(alone == frames);
      }
      REQUIRE(page->leaf_of(stack, pages.edges) < pages.dictionary.size());
      REQUIRE(pages.dictionary[page->leaf_of(stack, pages.edges)] == frames.front());
    }
    decoded.push_back(std::move(page).value());
  }
  return decoded;
}

TEST_SUITE("spk pages") {
  TEST_CASE("page: each decodes alone, in any order") {
    test::Random random(41);
    const test::StackSet stacks = test::random_stacks(random, 9'000, 60, 500);
    CHECK(check_pages_of(stacks).size() >= 3);
  }

  TEST_CASE("page: paths of blocks in deep callstacks, with a cost that is bounded") {
    // A chain through three pages with side branches, so that the paths of most blocks are long and
    // go on from those of the blocks before; then the same with frames that recur.
    for (const std::uint64_t distinct : {20'000U, 7U}) {
      CAPTURE(distinct);
      test::StackSet stacks;
      test::RootFirstStack chain;
      for (std::uint64_t depth = 0; depth < 10'000; ++depth) {
        chain.push_back({FrameMode::kUser, 1'000 + depth % distinct});
        if (depth % 97 == 0) {
          test::RootFirstStack branch = chain;
          for (std::uint64_t i = 0; i < depth % 300; ++i) {
            branch.push_back({FrameMode::kUser, 50'000 + i});
          }
          stacks.insert(branch);
        }
      }
      stacks.insert(chain);
      for (const ResidentPage& page : check_pages_of(stacks)) {
        CHECK(page.shape().block_frames <= page.node_count());
        CHECK(page.memory_bytes() <
              6 * std::uint64_t{page.node_count()} + 3 * page.shape().spine + 1'000);
      }
    }
  }

  TEST_CASE("page: leaves whose position in a long row is no byte") {
    test::StackSet stacks;
    for (std::uint64_t child = 0; child < 700; ++child) {
      stacks.insert({{FrameMode::kUser, 1}, {FrameMode::kUser, 10 + child}});
    }
    const std::vector<ResidentPage> pages = check_pages_of(stacks);
    REQUIRE(pages.size() == 1);
    CHECK(pages[0].shape().indexed == 1);
    CHECK(pages[0].shape().coded == 699);  // the first child is the top one
    CHECK(pages[0].shape().far_codes == 700 - 255);
  }

  TEST_CASE("page: frames are named where they must be, once per word of bits at least") {
    // A chain of one frame: each node is the top child of the one before.
    test::StackSet chain;
    chain.insert(test::RootFirstStack(200, Frame{FrameMode::kUser, 5}));
    CHECK(first_page(pages_of(chain)).shape().indexed == 4);  // nodes 0, 64, 128, 192
    // Two children of one frame: the one that comes first most often is the top child.
    test::StackSet forks;
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::uint64_t child = i < 7 ? 100 : 50;
      forks.insert({{FrameMode::kUser, 200 + i}, {FrameMode::kUser, 1}, {FrameMode::kUser, child}});
    }
    // 30 nodes: 10 under the root, of which one is the first of the page; below each the only
    // child, which needs no name; below that 7 top children and 3 others, all of them leaves.
    const ResidentPage page = first_page(pages_of(forks));
    CHECK(page.shape().indexed == 10);
    CHECK(page.shape().coded == 3);
    CHECK(page.shape().far_codes == 0);
  }

  TEST_CASE("page: what the index says must be so") {
    test::Random random(42);
    const Pages pages = pages_of(test::random_stacks(random, 5'000, 30, 300));
    const std::vector<std::byte>& content = pages.contents[1];
    const PageDecoder::Expected good = pages.expected[1];
    PageDecoder decoder;
    CHECK(decoder.decode(content, pages.edges, pages.dictionary, good).has_value());
    for (int field = 0; field < 4; ++field) {
      CAPTURE(field);
      PageDecoder::Expected bad = good;
      bad.first_node += field == 0 ? 1U : 0U;
      bad.first_stack += field == 1 ? 1U : 0U;
      bad.nodes -= field == 2 ? 1U : 0U;
      bad.stacks += field == 3 ? 1U : 0U;
      CHECK_FALSE(decoder.decode(content, pages.edges, pages.dictionary, bad).has_value());
    }
    CHECK_FALSE(decoder.decode(pages.contents[0], pages.edges, pages.dictionary, good).has_value());
    std::vector<Frame> frames;
    CHECK_FALSE(
        decoder.read_stack(pages.contents[0], pages.edges, pages.dictionary, good, 0, frames));
    PageDecoder::Expected short_by_one = good;
    --short_by_one.nodes;
    CHECK_FALSE(
        decoder.read_stack(content, pages.edges, pages.dictionary, short_by_one, 0, frames));
    CHECK_FALSE(
        decoder.read_stack(content, pages.edges, pages.dictionary, good, good.stacks, frames));
  }

  TEST_CASE("page: the outermost frames of spines of every length and of more than one mode") {
    for (const std::uint64_t depth : {1U, 23U, 24U, 25U, 60U}) {
      for (const std::uint64_t kernel_from : {0U, 5U, 100U}) {
        CAPTURE(depth);
        CAPTURE(kernel_from);
        test::RootFirstStack stem;
        for (std::uint64_t level = 0; level < depth; ++level) {
          stem.push_back(
              {level < kernel_from ? FrameMode::kUser : FrameMode::kKernel, 1'000 + level});
        }
        test::StackSet stacks;
        for (std::uint64_t leaf = 0; leaf < 5'000; ++leaf) {
          test::RootFirstStack stack = stem;
          stack.push_back({FrameMode::kUser, 1'000'000 + leaf});
          stacks.insert(stack);
        }
        const std::vector<ResidentPage> pages = check_pages_of(stacks);
        REQUIRE(pages.size() == 2);
        const PageShape& last = pages.front().shape();
        CHECK(last.spine == depth);
        CHECK(last.outer == std::min<std::uint64_t>(depth, 24));
        CHECK(last.mixed_modes == (kernel_from == 5 && depth > 5));
      }
    }
  }

  TEST_CASE("page: of leaves only the last may end no callstack") {
    const Frame root{FrameMode::kUser, 1};
    const Pages pages = pages_of({{root, {FrameMode::kUser, 2}},
                                  {root, {FrameMode::kUser, 3}},
                                  {root, {FrameMode::kUser, 4}}});
    PageDecoder::Expected expected = pages.expected.front();
    --expected.stacks;
    constexpr std::size_t kExceptions = 4;  // after first node, first stack, nodes, spine
    for (const std::uint32_t exception : {1U, 2U, 3U}) {
      CAPTURE(exception);
      std::vector<std::byte> content = pages.contents.front();
      REQUIRE(content.size() == kExceptions + 1 + 4);
      content[kExceptions] = std::byte{1};
      content.push_back(static_cast<std::byte>(exception));
      PageDecoder decoder;
      std::vector<Frame> frames;
      CHECK(decoder.decode(content, pages.edges, pages.dictionary, expected).has_value() ==
            (exception == 3));
      CHECK(decoder.read_stack(content, pages.edges, pages.dictionary, expected, 1, frames)
                .has_value() == (exception == 3));
      // The first callstack ends before what is wrong with the second.
      CHECK(decoder.read_stack(content, pages.edges, pages.dictionary, expected, 0, frames)
                .has_value() == (exception != 1));
    }
  }

  TEST_CASE(
      "page: every prefix is refused; changed bytes give an error or stacks of known frames") {
    test::Random random(43);
    const Pages pages = pages_of(test::random_stacks(random, 400, 30, 100));
    const std::vector<std::byte>& content = pages.contents.front();
    for (std::size_t size = 0; size < content.size(); size += test::byte_step()) {
      REQUIRE_FALSE(decode(pages, 0, std::span(content).first(size)).has_value());
    }
    std::size_t decoded = 0;
    PageDecoder decoder;
    for (std::size_t at = 0; at < content.size(); at += test::byte_step()) {
      for (const unsigned flip : {1U, 0x40U, 0xFFU}) {
        std::vector<std::byte> bad = content;
        bad[at] ^= static_cast<std::byte>(flip);
        const Result<ResidentPage> page = decode(pages, 0, bad);
        // What comes before a callstack's end is all that its own reading looks at.
        std::vector<Frame> frames;
        std::vector<Frame> alone;
        const std::uint32_t last = pages.expected[0].stacks - 1;
        for (const std::uint32_t stack : {0U, last / 2, last}) {
          const Status read = decoder.read_stack(bad, pages.edges, pages.dictionary,
                                                 pages.expected[0], stack, alone);
          if (page) {
            page->read_stack(stack, pages.dictionary, pages.edges, frames);
            REQUIRE(read);
            REQUIRE(alone == frames);
          }
        }
        if (!page) {
          continue;
        }
        ++decoded;
        for (std::uint32_t stack = 0; stack < page->stack_count(); ++stack) {
          page->read_stack(stack, pages.dictionary, pages.edges, frames);
        }
        REQUIRE(!frames.empty());
      }
    }
    CHECK(decoded > 0);  // pages have no checksum of their own
  }

  TEST_CASE("page: a spine of the greatest depth") {
    test::StackSet stacks;
    test::RootFirstStack stack(kMaxStackDepth, Frame{FrameMode::kUser, 5});
    stacks.insert(stack);
    const Pages pages = pages_of(stacks);
    CHECK(pages.contents.size() == 16);
    std::vector<Frame> frames;
    const Result<ResidentPage> page = decode(pages, 15, pages.contents[15]);
    REQUIRE(page.has_value());
    CHECK(page->shape().spine == 15 * kNodesPerPage);
    page->read_stack(0, pages.dictionary, pages.edges, frames);
    CHECK(frames == stack);
  }
}

}  // namespace
}  // namespace stackpack::spk
