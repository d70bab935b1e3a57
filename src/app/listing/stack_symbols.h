#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/listing/stack_places.h"
#include "capture/module_map.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Where an address lies: the module and the offset in its file. The module is that of the table
/// which found it.
struct FrameLocation {
  const Module* module = nullptr;
  std::uint64_t offset = 0;
};

/// The mappings of a file, ready to tell which module a frame belongs to.
class StackSymbols {
 public:
  static Result<StackSymbols> load(const Reader& reader);

  /// Nothing when no image is known to have been there.
  [[nodiscard]] std::optional<FrameLocation> locate(const StackPlace& place,
                                                    const Frame& frame) const;

 private:
  struct Tables {
    std::vector<Process> processes;
    std::vector<Module> modules;
  };

  explicit StackSymbols(Tables tables);

  // At an address of its own, since the map keeps spans of it.
  std::unique_ptr<const Tables> tables_;
  capture::ModuleMap map_;
};

}  // namespace stackpack::app
