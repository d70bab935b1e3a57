// The input is a block of edges and a page made for it: whatever is decoded stays within both.
//
//   u8 frames, u16 bytes of the edge block, the edge block,
//   u16 nodes, u16 stacks, u16 first node, u16 first stack, the page
#include <cstddef>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "fuzz/require.h"
#include "spk/format/layout.h"
#include "spk/read/edge_table.h"
#include "spk/read/frame_dictionary.h"
#include "spk/read/page_decoder.h"

namespace stackpack::fuzz {

void spk_page(std::span<const std::byte> data);

namespace {

// In the order of memory; the addresses say which frames they are.
spk::FrameDictionary dictionary_of(std::uint32_t frames, std::span<const std::uint32_t> order) {
  std::vector<Frame> all;
  for (std::uint32_t i = 0; i < frames; ++i) {
    all.push_back({FrameMode::kUser, 0x1000 + i * std::uint64_t{i}});
  }
  spk::FrameDictionary dictionary;
  dictionary.append(all);
  dictionary.seal();
  return dictionary.in_order(order);
}

}  // namespace

void spk_page(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  const std::uint32_t frames = in.read<std::uint8_t>() + 1U;
  const bytes::ByteCursor edge_block = in.sub(in.read<std::uint16_t>());
  spk::PageDecoder::Expected expected;
  expected.nodes = in.read<std::uint16_t>() % spk::kNodesPerPage + 1U;
  expected.stacks = in.read<std::uint16_t>();
  expected.first_node = in.read<std::uint16_t>();
  expected.first_stack = in.read<std::uint16_t>();
  if (!in.ok()) {
    return;
  }
  spk::EdgeTableBuilder builder(frames);
  if (!builder.add_block(edge_block)) {
    return;
  }
  const Result<spk::EdgeTable> edges = builder.finish();
  if (!edges) {
    return;
  }
  spk::PageDecoder decoder;
  const spk::FrameDictionary dictionary = dictionary_of(frames, builder.order());
  std::vector<Frame> last;
  const bool found =
      expected.stacks > 0 &&
      decoder.read_stack(in.rest(), *edges, dictionary, expected, expected.stacks - 1U, last)
          .has_value();
  const Result<spk::ResidentPage> page = decoder.decode(in.rest(), *edges, dictionary, expected);
  if (!page) {
    return;
  }
  require(found == (expected.stacks > 0));
  require(page->node_count() == expected.nodes && page->stack_count() == expected.stacks);
  const std::uint64_t highest = 0x1000 + (frames - 1) * std::uint64_t{frames - 1};
  std::uint64_t total = 0;
  std::vector<Frame> stack;
  for (std::uint32_t i = 0; i < page->stack_count() && total < 100'000; ++i) {
    page->read_stack(i, dictionary, *edges, stack);
    require(!stack.empty() && stack.size() <= spk::kMaxStackDepth);
    total += stack.size();
    for (const Frame& frame : stack) {
      require(frame.mode == FrameMode::kUser && frame.address <= highest);
    }
  }
  require(total >= 100'000 || stack == last);
  std::vector<std::uint32_t> path;
  decoder.last_path(path);
  require(!path.empty() && path.back() < frames);
}

}  // namespace stackpack::fuzz
