// Which of many overlapping mappings covers an address at a time: the one mapped last.
//
// Mappings of one process hardly ever overlap, and then a sorted array is all it takes
// (module_map.h). Where they do - code that is mapped anew again and again at one place, or a
// hostile file - looking at each would take time with the square of the input. Here a look-up
// visits the lists of interval_lists.h, each in the order of starts. In each it wants the last
// mapping that began in time and has not ended before: maxima of the ends, over groups of 16 and
// groups of groups, find it in O(log n).
//
// Memory: about five bytes for each mapping and node it is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capture/interval_lists.h"
#include "stackpack/model.h"

namespace stackpack::capture {

class MappingTree {
 public:
  /// `order` holds indexes of `modules`, all of one process and of sizes above 0. Of mappings that
  /// began at the same time, one that comes later in `order` wins. `modules` must outlive the tree.
  MappingTree(std::span<const Module> modules, std::span<const std::uint32_t> order);

  /// The index in the module table. Adds the mappings, boundaries and maxima that were looked at
  /// to `steps`.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t time_ns, std::uint64_t address,
                                                  std::uint64_t& steps) const;

 private:
  static constexpr std::size_t kGroup = 16;

  void fill_maxima();
  [[nodiscard]] std::uint64_t end_at(std::size_t level, std::size_t index) const;
  [[nodiscard]] std::size_t size_of(std::size_t level) const;
  [[nodiscard]] std::optional<std::size_t> last_alive(std::size_t begin, std::size_t last,
                                                      std::uint64_t time_ns,
                                                      std::uint64_t& steps) const;

  std::span<const Module> modules_;
  std::vector<std::uint32_t> by_start_;             // indexes of modules
  IntervalLists lists_;                             // of positions in by_start_
  std::vector<std::vector<std::uint64_t>> maxima_;  // of ends: of entries, then of the level below
};

}  // namespace stackpack::capture
