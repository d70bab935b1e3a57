#include "app/listing/stack_symbols.h"

#include <utility>

namespace stackpack::app {

StackSymbols::StackSymbols(Tables tables)
    : tables_(std::make_unique<const Tables>(std::move(tables))),
      map_(tables_->processes, tables_->modules) {}

Result<StackSymbols> StackSymbols::load(const Reader& reader) {
  Result<std::vector<Process>> processes = reader.processes();
  if (!processes) {
    return processes.error();
  }
  Result<std::vector<Module>> modules = reader.modules();
  if (!modules) {
    return modules.error();
  }
  return StackSymbols(Tables{std::move(*processes), std::move(*modules)});
}

std::optional<FrameLocation> StackSymbols::locate(const StackPlace& place,
                                                  const Frame& frame) const {
  const std::optional<capture::ModuleMap::Hit> hit = map_.find(place.pid, place.time_ns, frame);
  if (!hit) {
    return std::nullopt;
  }
  return FrameLocation{&tables_->modules[hit->module], hit->offset};
}

}  // namespace stackpack::app
