#include "app/analysis/named_frames.h"

#include <map>
#include <tuple>

#include "app/analysis/placed_callstacks.h"

namespace stackpack::app {

namespace {

using FrameKey = std::tuple<std::uint32_t, Frame, std::string_view>;

}  // namespace

Status visit_named_frames(const Reader& reader,
                          const std::function<Status(const NamedFrame&)>& visit) {
  const Result<PlacedCallstacks> callstacks = PlacedCallstacks::open(reader);
  if (!callstacks) {
    return callstacks.error();
  }
  const symbols::SymbolIndex& symbols = callstacks->symbols();
  std::map<FrameKey, CodeLocation> named;
  const Status grouped =
      callstacks->each([&](const query::MappingContext& context, std::uint32_t /*number*/,
                           std::span<const Frame> frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
          const CodeLocation location =
              symbols.locate(frames[i], context.pid, context.time_ns,
                             symbols.use_of(frames, i, context.pid, context.time_ns));
          if (!location.name.empty()) {
            const bool of_all = frames[i].mode == FrameMode::kKernel &&
                                (location.function == nullptr ||
                                 location.function->owner != FunctionOwner::kProcess);
            const std::uint32_t pid = of_all ? kUnknownId : context.pid;
            named.try_emplace(FrameKey(pid, frames[i], location.name), location);
          }
        }
      });
  if (!grouped) {
    return grouped;
  }
  for (const auto& [key, location] : named) {
    if (const Status visited = visit({std::get<0>(key), std::get<1>(key), location}); !visited) {
      return visited;
    }
  }
  return {};
}

}  // namespace stackpack::app
