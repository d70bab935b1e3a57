#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spk/read/edge_table.h"
#include "spk/read/page_packer.h"
#include "spk/read/page_walk.h"
#include "spk/read/resident_page.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Turns the content of a page (page_path.h) into its resident form.
///
/// Every index of the content is checked here, once, so that nothing has to be checked when a stack
/// is decoded. Keeps its scratch between calls. Threads: one at a time.
class PageDecoder {
 public:
  using Expected = PageWalk::Expected;

  /// Errors: kCorrupt: the content contradicts itself, the edge table or `expected`.
  Result<ResidentPage> decode(std::span<const std::byte> content, const EdgeTable& edges,
                              const FrameDictionary& dictionary, const Expected& expected);

  /// The frames of one callstack, `stack` < expected.stacks, from its leaf on, into `frames`
  /// (replaced): as decode() and ResidentPage::read_stack, without making the page in memory.
  /// Nothing of the content after the callstack's end is looked at.
  /// Errors: kCorrupt: what comes before that contradicts itself, the edge table or `expected`.
  Status read_stack(std::span<const std::byte> content, const EdgeTable& edges,
                    const FrameDictionary& dictionary, const Expected& expected,
                    std::uint32_t stack, std::vector<Frame>& frames);

  // About the page decoded last, to compare it with its neighbours. Frames are dictionary indices.
  /// The frames above the first node, from the root on.
  [[nodiscard]] std::span<const std::uint32_t> spine() const { return walk_.spine(); }
  [[nodiscard]] std::uint32_t first_frame() const { return nodes_.front().frame; }
  [[nodiscard]] std::span<const ResidentPage::Node> nodes() const { return nodes_; }
  /// The frames of the last node and those above it, from the root on, into `path` (replaced).
  void last_path(std::vector<std::uint32_t>& path) const;

 private:
  using Node = ResidentPage::Node;
  [[nodiscard]] bool exceptions_fit() const;
  bool find(const EdgeTable& edges, std::uint32_t node_count, std::uint32_t stack);

  PageWalk walk_;
  std::vector<Node> nodes_;
  PagePacker packer_;
};

}  // namespace stackpack::spk
