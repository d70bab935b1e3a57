#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "capture/life_index.h"
#include "capture/mapping_tree.h"
#include "stackpack/model.h"

namespace stackpack::capture {

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
  /// process, then, where it was forked, among those of its parent at the time of the fork.
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
