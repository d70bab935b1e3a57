#include "app/analysis/named_frames.h"

#include <map>
#include <tuple>
#include <vector>

#include "export/selection/capture_view.h"
#include "export/selection/sample_grouper.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kGroupsAtOnce = std::size_t{1} << 20;

using FrameKey = std::tuple<std::uint32_t, Frame, std::string_view>;

}  // namespace

Status visit_named_frames(const Reader& reader,
                          const std::function<Status(const NamedFrame&)>& visit) {
  const auto view = exporting::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions everything;
  everything.all_events = true;
  const auto selection = exporting::SampleSelection::create(*view, everything);
  if (!selection) {
    return selection.error();
  }
  const symbols::SymbolIndex& symbols = (*selection)->symbols();
  std::map<FrameKey, CodeLocation> named;
  exporting::GroupBy by;
  by.context = true;
  exporting::SampleGrouper grouper(**selection, by, kGroupsAtOnce);
  std::vector<StackId> ids;
  std::vector<std::uint32_t> contexts;
  const Status grouped = grouper.for_each([&](std::span<const exporting::Group> groups) -> Status {
    ids.clear();
    contexts.clear();
    for (const exporting::Group& group : groups) {
      if (group.key.stack != kNoStack) {
        ids.push_back(group.key.stack);
        contexts.push_back(group.key.context);
      }
    }
    return view->callstacks(ids, [&](std::size_t at, std::span<const Frame> frames) {
      const exporting::MappingContext& context = (*selection)->contexts()[contexts[at]];
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const CodeLocation location =
            symbols.locate(frames[i], context.pid, context.time_ns, address_use(frames, i));
        if (!location.name.empty()) {
          const std::uint32_t pid = frames[i].mode == FrameMode::kKernel ? kUnknownId : context.pid;
          named.try_emplace(FrameKey(pid, frames[i], location.name), location);
        }
      }
      return true;
    });
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
