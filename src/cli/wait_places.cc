#include "cli/wait_places.h"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace stackpack::cli {

namespace {

std::string_view file_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

}  // namespace

Result<std::vector<std::string>> WaitPlaces::of(std::span<const PlacedStack> stacks) {
  std::vector<StackId> ids;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (stacks[i].stack != kNoStack) {
      ids.push_back(stacks[i].stack);
      at.push_back(i);
    }
  }
  std::vector<std::string> places(stacks.size());
  const Status read =
      reader_.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
        const PlacedStack& placed = stacks[at[position]];
        places[at[position]] = place_of(frames, placed.pid, placed.time_ns);
        return true;
      });
  return read ? Result<std::vector<std::string>>(std::move(places))
              : Result<std::vector<std::string>>(read.error());
}

std::string WaitPlaces::place_of(std::span<const Frame> frames, std::uint32_t pid,
                                 std::uint64_t time_ns) {
  symbols_.locate_stack(frames, pid, time_ns, locations_);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].mode == FrameMode::kUser) {
      shown = i;
      break;
    }
  }
  if (frames.empty()) {
    return {};
  }
  const CodeLocation& location = locations_[shown];
  if (location.name.empty()) {
    return location.module == nullptr
               ? fmt::format("0x{:x}", frames[shown].address)
               : fmt::format("{}+0x{:x}", file_part(location.module->path), location.offset);
  }
  const std::string_view name =
      kind_ == app::FunctionNames::kLinkage ? location.linkage : location.name;
  const std::vector<app::FunctionTitle> titles{{name, "", ""}};
  return app::function_titles(titles, kind_).front();
}

}  // namespace stackpack::cli
