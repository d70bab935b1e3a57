#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capture/interval_lists.h"
#include "capture/life_index.h"
#include "stackpack/model.h"

namespace stackpack::capture {

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

/// Finds the image an address belongs to, in which process and at which time.
///
/// The spans must outlive the map. Const methods may be called from any thread.
class ModuleMap {
 public:
  ModuleMap(std::span<const Process> processes, std::span<const Module> modules);

  struct Hit {
    std::uint32_t module;  ///< index in the module table
    std::uint64_t offset;  ///< offset in the mapped file: address - base + file_offset
  };

  /// The image that covers frame.address at `time_ns` in process `pid`: of several, the one mapped
  /// last. Kernel frames look among the images of kKernelPid, and so do those at rebased addresses
  /// (rebased_addresses.h); user frames among those of the
  /// process, then, where it was forked, among those of its parent at the time of the fork. Frames
  /// of a guest's kernel look among the images at kernel addresses of the process that runs the
  /// guest, then of process 0: the guest of whom no process is known.
  ///
  /// Cost: logarithmic in the number of images, for each of at most 64 processes. `steps`, where it
  ///       is not null, grows by the images and table entries that were looked at.
  [[nodiscard]] std::optional<Hit> find(std::uint32_t pid, std::uint64_t time_ns,
                                        const Frame& frame, std::uint64_t* steps = nullptr) const;

 private:
  // How many images a look-up may look at one by one. Processes whose images overlap more than that
  // have a tree.
  static constexpr std::size_t kMostOverlapping = 32;

  void plant_trees();
  [[nodiscard]] std::optional<Hit> find_in_guest(std::uint32_t pid, std::uint64_t time_ns,
                                                 std::uint64_t address, std::uint64_t& steps) const;
  [[nodiscard]] std::optional<Hit> find_in(std::uint32_t pid, std::uint64_t time_ns,
                                           std::uint64_t address, std::uint64_t& steps) const;
  [[nodiscard]] Hit hit_of(std::uint32_t index, std::uint64_t address) const;

  std::span<const Process> processes_;
  std::span<const Module> modules_;
  ProcessLives lives_;
  std::vector<std::uint32_t> by_base_;  // modules by pid, base
  std::vector<std::uint64_t> highest_;  // of by_base_: highest last address so far in the same pid
  std::map<std::uint32_t, MappingTree> trees_;  // by pid
};

}  // namespace stackpack::capture
