#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "spk/read/resident_page.h"

namespace stackpack::spk {

/// Makes pages in memory. Keeps its scratch between calls. Threads: one at a time.
class PagePacker {
 public:
  using Node = ResidentPage::Node;

  /// `nodes` in canonical order; `spine`: frames from the root on; `exceptions`: nodes, ascending.
  /// All checked.
  ResidentPage pack(std::span<const Node> nodes, std::span<const std::uint32_t> spine,
                    std::span<const std::uint32_t> exceptions, const FrameDictionary& dictionary,
                    const EdgeTable& edges);

 private:
  using BlockPath = ResidentPage::BlockPath;

  void measure_nodes();
  void resolve_outer(const FrameDictionary& dictionary);
  void make_rows();
  void make_paths();
  void put_rows(ResidentPage& page) const;
  void put_names(ResidentPage& page) const;
  void put_parents(ResidentPage& page) const;
  void put_paths(ResidentPage& page) const;
  void put_exceptions(ResidentPage& page, std::span<const std::uint32_t> exceptions) const;
  [[nodiscard]] std::uint32_t nodes_above(std::uint32_t node, std::uint32_t lowest,
                                          std::uint32_t most) const;
  [[nodiscard]] std::uint32_t place_of_parent(std::uint32_t node) const;
  // Bit per node that there is; only the last full row has others.
  [[nodiscard]] std::uint64_t inside_of(std::size_t row) const {
    const std::size_t left = nodes_.size() - 64 * row;
    return left >= 64 ? ~std::uint64_t{0} : core::low_bits(static_cast<unsigned>(left));
  }
  [[nodiscard]] ResidentPage::Row row(std::size_t number) const {
    return ResidentPage::Row(&rows_[number * ResidentPage::kWordsPerRow]);
  }
  [[nodiscard]] std::size_t row_count() const { return (nodes_.size() + 63) / 64; }

  std::span<const Node> nodes_;
  std::span<const std::uint32_t> spine_;
  std::vector<Frame> outer_;  // the first of the spine
  PageShape shape_;
  std::vector<std::uint32_t> depths_;        // frames from the root to the node
  std::vector<std::uint64_t> rows_;          // one more than there are rows with nodes
  std::vector<BlockPath> paths_;             // per block
  std::vector<std::uint32_t> block_frames_;  // of all paths
};

}  // namespace stackpack::spk
