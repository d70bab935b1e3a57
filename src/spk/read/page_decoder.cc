#include "spk/read/page_decoder.h"

#include <algorithm>

namespace stackpack::spk {

namespace {

Error bad_page(const PageWalk::Expected& expected) {
  return {ErrorCode::kCorrupt, expected.offset, "spk: page"};
}

}  // namespace

void PageDecoder::last_path(std::vector<std::uint32_t>& path) const {
  path.clear();
  for (std::size_t level = 0; level < walk_.depth(); ++level) {
    path.push_back(walk_.frame(level));
  }
}

// Each leaf but the last, which may have a child in the next page, ends a callstack.
bool PageDecoder::exceptions_fit() const {
  const std::span<const std::uint32_t> exceptions = walk_.exceptions();
  return std::all_of(exceptions.begin(), exceptions.end(), [this](std::uint32_t node) {
    return node + 1 == nodes_.size() || nodes_[node + 1].parent == node;
  });
}

Result<ResidentPage> PageDecoder::decode(std::span<const std::byte> content, const EdgeTable& edges,
                                         const FrameDictionary& dictionary,
                                         const Expected& expected) {
  if (!walk_.begin(content, edges, expected)) {
    return bad_page(expected);
  }
  nodes_.resize(expected.nodes);
  Node* out = nodes_.data();
  const bool walked = walk_.nodes(edges, [&out](std::uint32_t /*number*/, const Node& node) {
    *out++ = node;
    return true;
  });
  if (!walked || !exceptions_fit()) {
    return bad_page(expected);
  }
  ResidentPage page = packer_.pack(nodes_, walk_.spine(), walk_.exceptions(), dictionary, edges);
  if (page.stack_count() != expected.stacks) {
    return bad_page(expected);
  }
  return page;
}

// Walks until callstack number `stack` has ended. Whether it ends at a node is known at the next.
bool PageDecoder::find(const EdgeTable& edges, std::uint32_t node_count, std::uint32_t stack) {
  const std::span<const std::uint32_t> exceptions = walk_.exceptions();
  auto exception = exceptions.begin();
  std::uint32_t ended = 0;
  bool fits = true;
  // Whether the walk is at its end: past `node`.
  const auto pass = [&](std::uint32_t node, bool leaf) {
    const bool is_exception = exception != exceptions.end() && *exception == node;
    exception += is_exception ? 1 : 0;
    fits = !(leaf && is_exception) || node + 1 == node_count;
    ended += leaf != is_exception ? 1U : 0U;
    return ended > stack || !fits;
  };
  bool found = false;
  const bool walked = walk_.nodes(edges, [&](std::uint32_t number, const Node& node) {
    found = number > 0 && pass(number - 1, node.parent + 1 != number);
    return !found;
  });
  return walked && (found || pass(node_count - 1, true)) && fits;
}

Status PageDecoder::read_stack(std::span<const std::byte> content, const EdgeTable& edges,
                               const FrameDictionary& dictionary, const Expected& expected,
                               std::uint32_t stack, std::vector<Frame>& frames) {
  if (!walk_.begin(content, edges, expected) || !find(edges, expected.nodes, stack)) {
    return bad_page(expected);
  }
  frames.resize(walk_.depth());
  const FrameDictionary::Lookup lookup = dictionary.lookup();
  for (std::size_t level = 0; level < frames.size(); ++level) {
    frames[frames.size() - 1 - level] = lookup[walk_.frame(level)];
  }
  return {};
}

}  // namespace stackpack::spk
