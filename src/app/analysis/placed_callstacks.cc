#include "app/analysis/placed_callstacks.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "query/selection/sample_grouper.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kPlacedGroupsAtOnce = std::size_t{1} << 20;

using FrameKey = std::tuple<std::uint32_t, Frame, std::string_view>;

}  // namespace

Result<PlacedCallstacks> PlacedCallstacks::open(const Reader& reader, std::optional<Names> names,
                                                const SampleFilter& filter) {
  auto read = query::view_of(reader);
  if (!read) {
    return read.error();
  }
  auto opened = std::make_unique<Opened>();
  opened->view = std::move(*read);
  if (names) {
    opened->view.names = std::move(*names);
  }
  opened->everything.filter = filter;
  opened->everything.all_events = true;
  opened->everything.count = CountBy::kSamples;
  auto selection = query::SampleSelection::create(opened->view, opened->everything);
  if (!selection) {
    return selection.error();
  }
  opened->selection = std::move(*selection);
  return PlacedCallstacks(std::move(opened));
}

Status PlacedCallstacks::each(const std::function<void(const query::MappingContext&, std::uint32_t,
                                                       std::span<const Frame>)>& visit) const {
  query::GroupBy by;
  by.context = true;
  by.weight = false;
  by.numbers_tracks = false;
  query::SampleGrouper grouper(*opened_->selection, by, kPlacedGroupsAtOnce);
  std::vector<StackId> ids;
  std::vector<std::uint32_t> contexts;
  return grouper.for_each([&](std::span<const query::Group> groups) -> Status {
    ids.clear();
    contexts.clear();
    for (const query::Group& group : groups) {
      if (group.key.stack != kNoStack) {
        ids.push_back(group.key.stack);
        contexts.push_back(group.key.context);
      }
    }
    return opened_->view.callstacks(ids, [&](std::size_t at, std::span<const Frame> frames) {
      visit(opened_->selection->contexts()[contexts[at]], contexts[at], frames);
      return true;
    });
  });
}

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
