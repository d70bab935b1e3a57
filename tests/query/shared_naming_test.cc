// Callstacks that threads name are what one thread makes of them.
#include "query/naming/shared_naming.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "query/naming/location_table.h"
#include "query/naming/shared_placing.h"
#include "query/naming/stack_resolver.h"
#include "query/naming/stack_tree.h"

namespace stackpack::test {
namespace {

using query::Group;
using Request = query::StackResolver::Request;

// Callstacks that begin alike, some with a broken end, in processes with other images. `deep`: with
// so many frames that a thread's part has no room for all of them.
HandMadeCapture many_stacks(std::size_t count, std::size_t deep) {
  std::mt19937 random(11);
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  for (const std::uint32_t pid : {1U, 2U}) {
    capture.add_thread(pid, pid, "process");
    capture.add_module(pid, 0x1000, 0x1000, "/bin/one");
    capture.add_module(pid, 0x10000 * pid, 0x800, "/lib/two.so");
  }
  capture.add_module(kKernelPid, 0xffff0000, 0x10000, "[kernel.kallsyms]");
  std::vector<Frame> root_first;
  for (std::size_t i = 0; i < count; ++i) {
    // Where parts begin, too, neighbours have little in common.
    const std::size_t kept = i % 64 == 0 ? 0 : random() % 12;
    root_first.resize(std::min<std::size_t>(root_first.size(), kept));
    if (root_first.empty() && random() % 7 == 0) {
      root_first.push_back(user(0x9000000 + random() % 3));  // of no image
    }
    const std::size_t depth = i % 3 == 0 ? deep : 1 + random() % 8;
    while (root_first.size() < depth) {
      // Few near the root, so that callstacks far from each other begin alike, too.
      const bool outer = root_first.size() < 4;
      root_first.push_back(outer               ? user(0x1000 + 16 * (random() % 2))
                           : random() % 5 == 0 ? user(0x10000 + random() % 0x900)
                                               : user(0x1000 + random() % 0x400));
    }
    std::vector<Frame> leaf_first(root_first.rbegin(), root_first.rend());
    if (random() % 4 == 0) {
      leaf_first.insert(leaf_first.begin(), kernel(0xffff0000 + random() % 64));
    }
    capture.add_stack(leaf_first);
  }
  for (const std::uint32_t pid : {1U, 2U}) {
    capture.add_sample(1000 * pid, pid, pid, 0);
  }
  return capture;
}

// As a reader's: false ends it. It takes a while, so that both threads have parts.
query::CaptureView view_of_many(const HandMadeCapture& capture) {
  query::CaptureView view = capture.view();
  view.callstacks = [&capture](std::span<const StackId> ids, const auto& visit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (std::size_t i = 0; i < ids.size() && visit(i, capture.stacks.at(ids[i])); ++i) {
    }
    return Status{};
  };
  return view;
}

std::unique_ptr<query::SampleSelection> selection_of(const query::CaptureView& view) {
  ExportOptions options;
  options.all_events = true;
  auto selection = query::SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  REQUIRE((*selection)->for_each([](auto) { return Status{}; }).has_value());  // numbers contexts
  REQUIRE((*selection)->contexts().size() == 2);
  return std::move(*selection);
}

std::vector<Group> groups_of(std::size_t stacks) {
  std::vector<Group> groups;
  for (StackId stack = 0; stack < stacks; ++stack) {
    groups.push_back({{0, stack, stack % 5 == 0 ? 1U : 0U, 0}, 1, 1});
  }
  groups.push_back({{0, kNoStack, 0, 0}, 1, 1});
  return groups;
}

struct Seen {
  std::vector<std::vector<std::uint32_t>> entities;  // by group
  std::vector<std::string> names;                    // of entities, with their kinds of code
};

std::vector<std::string> names_of(const query::FrameEntities& entities) {
  std::vector<std::string> names;
  for (const query::FrameEntity& entity : entities.all()) {
    names.push_back(entity.name + ' ' + entity.module + ' ' +
                    std::to_string(static_cast<int>(entity.mode)));
  }
  return names;
}

Seen seen_by_threads(const query::SampleSelection& selection, std::span<const Group> groups,
                     std::size_t most_frames = query::SharedNaming::kMostFrames) {
  const auto make = [&] {
    return std::make_unique<query::FrameEntities>(selection, query::FrameGrain::kOffset);
  };
  const auto entities = make();
  query::SharedNaming naming(selection.view(), *entities, make, true, most_frames);
  Seen seen;
  seen.entities.resize(groups.size());
  const Status named =
      naming.each(groups, [&](const Group& group, std::span<const std::uint32_t> leaf_first) {
        seen.entities[static_cast<std::size_t>(&group - groups.data())].assign(leaf_first.begin(),
                                                                               leaf_first.end());
        return true;
      });
  REQUIRE(named.has_value());
  seen.names = names_of(*entities);
  return seen;
}

TEST_CASE("shared naming: threads find the entities that one thread finds") {
  for (const std::size_t deep : {std::size_t{10}, std::size_t{250}}) {
    CAPTURE(deep);
    const HandMadeCapture capture = many_stacks(20'000, deep);
    const query::CaptureView view = view_of_many(capture);
    const auto selection = selection_of(view);
    const std::vector<Group> groups = groups_of(capture.stacks.size());
    const Seen seen = seen_by_threads(*selection, groups);
    query::FrameEntities entities(*selection, query::FrameGrain::kOffset);
    query::StackEntities stacks(entities, true);
    std::size_t others = 0;
    for (std::size_t i = 0; i < capture.stacks.size(); ++i) {
      const auto expected = stacks.of(capture.stacks[i], groups[i].key.context);
      others += expected.size() == seen.entities[i].size() ? 0U : 1U;
      for (std::size_t k = 0; k < expected.size() && k < seen.entities[i].size(); ++k) {
        const std::string& name = seen.names[seen.entities[i][k]];
        others += name.starts_with(entities.all()[expected[k]].name + ' ') ? 0U : 1U;
      }
    }
    CHECK(others == 0);
    CHECK(seen.entities.back().empty());
    std::vector<std::string> all = names_of(entities);
    std::vector<std::string> found = seen.names;
    std::sort(all.begin(), all.end());
    std::sort(found.begin(), found.end());
    CHECK(all == found);
    // Whichever thread had a part.
    const Seen again = seen_by_threads(*selection, groups);
    CHECK(again.entities == seen.entities);
    CHECK(again.names == seen.names);
    // Though threads forget what they knew.
    const Seen anew = seen_by_threads(*selection, groups, 1);
    CHECK(anew.entities == seen.entities);
    CHECK(anew.names == seen.names);
  }
}

TEST_CASE("shared naming: the visitor ends it, and so does an error") {
  const HandMadeCapture capture = many_stacks(30'000, 10);
  query::CaptureView view = view_of_many(capture);
  const std::vector<Group> groups = groups_of(capture.stacks.size());
  const auto selection = selection_of(view);
  const auto make = [&] {
    return std::make_unique<query::FrameEntities>(*selection, query::FrameGrain::kModule);
  };
  const auto entities = make();
  query::SharedNaming naming(view, *entities, make, false);
  std::size_t visited = 0;
  const auto stop = [&](const Group&, std::span<const std::uint32_t>) { return ++visited != 9000; };
  CHECK(naming.each(groups, stop).has_value());
  CHECK(visited == 9000);
  view.callstacks = [](std::span<const StackId> ids, const auto&) {
    return ids.front() < 20'000 ? Status{} : Status{Error{ErrorCode::kCorrupt, 7, "a page"}};
  };
  query::SharedNaming other(view, *entities, make, false);
  const Status failed =
      other.each(groups, [](const Group&, std::span<const std::uint32_t>) { return true; });
  REQUIRE(!failed);
  CHECK(failed.error().code == ErrorCode::kCorrupt);
  CHECK(failed.error().offset == 7);
}

struct Resolved {
  std::vector<std::uint32_t> nodes;
  std::string tree;
};

Resolved resolve(const query::SampleSelection& selection, std::size_t stacks, bool begins = false) {
  query::LocationTable locations(selection, {.style = FrameStyle::kModule, .by_text = true});
  query::StackTree tree;
  query::StackResolver resolver(selection, locations, tree, true);
  std::vector<Request> requests;
  for (StackId stack = 0; stack < stacks; ++stack) {
    requests.push_back({stack, stack % 5 == 0 ? 1U : 0U, query::StackTree::kRoot});
  }
  requests.push_back({kNoStack, 0, query::StackTree::kRoot});
  Resolved resolved;
  if (begins) {
    resolver.begin(requests);
  }
  REQUIRE(resolver.resolve(requests, resolved.nodes).has_value());
  for (std::uint32_t node = 1; node < tree.node_count(); ++node) {
    resolved.tree += std::to_string(tree.parent(node)) + ' ';
    locations.append_text(tree.location(node), resolved.tree);
    resolved.tree += '\n';
  }
  return resolved;
}

TEST_CASE("shared placing: threads make the tree that one thread makes") {
  for (const std::size_t deep : {std::size_t{10}, std::size_t{250}}) {
    CAPTURE(deep);
    const HandMadeCapture capture = many_stacks(45'000, deep);
    query::CaptureView view = view_of_many(capture);
    const auto alone = selection_of(view);
    const Resolved expected = resolve(*alone, capture.stacks.size());
    // Only the callstacks are asked for; that parts are set says that threads may.
    view.parts = [](const SampleScan&, const SamplePass&) { return Status{}; };
    for (const bool begins : {false, true}) {
      CAPTURE(begins);
      const Resolved shared = resolve(*alone, capture.stacks.size(), begins);
      CHECK(shared.nodes == expected.nodes);
      const bool same_tree = shared.tree == expected.tree;
      CHECK(same_tree);
    }
    CHECK(expected.tree.find("[broken") != std::string::npos);
  }
}

TEST_CASE("shared placing: callstacks come whole, though threads forget what they knew") {
  const HandMadeCapture capture = many_stacks(30'000, 10);
  const query::CaptureView view = view_of_many(capture);
  const auto selection = selection_of(view);
  query::SharedPlacing placing(*selection, false, 1);
  std::vector<StackId> ids(capture.stacks.size());
  std::iota(ids.begin(), ids.end(), StackId{0});
  std::vector<std::uint64_t> addresses;  // by name
  std::vector<std::uint32_t> path;
  std::size_t next = 0;
  std::size_t others = 0;
  const Status placed = placing.each(
      ids, 0,
      [&](const query::PlacedFrame& frame) {
        addresses.push_back(frame.frame.address);
        return static_cast<std::uint32_t>(addresses.size() - 1);
      },
      [&](const query::DivergingStack& stack) {
        const std::vector<Frame>& leaf_first = capture.stacks[stack.position];
        others += stack.position == next++ && !stack.is_broken ? 0U : 1U;
        path.resize(stack.shared);
        path.insert(path.end(), stack.frames.begin(), stack.frames.end());
        others += path.size() == leaf_first.size() ? 0U : 1U;
        for (std::size_t i = 0; i < path.size() && i < leaf_first.size(); ++i) {
          others += addresses[path[i]] == leaf_first[leaf_first.size() - 1 - i].address ? 0U : 1U;
        }
        return Status{};
      },
      [&](std::size_t, std::size_t) {
        ++others;
        return Status{};
      });
  CHECK(placed.has_value());
  CHECK(next == ids.size());
  CHECK(others == 0);
}

TEST_CASE("shared placing: an error of one page ends it") {
  const HandMadeCapture capture = many_stacks(40'000, 10);
  query::CaptureView view = view_of_many(capture);
  const auto selection = selection_of(view);
  view.parts = [](const SampleScan&, const SamplePass&) { return Status{}; };
  view.callstacks = [](std::span<const StackId> ids, const auto&) {
    return ids.back() < 30'000 ? Status{} : Status{Error{ErrorCode::kCorrupt, 7, "a page"}};
  };
  query::LocationTable locations(*selection, {.style = FrameStyle::kAddress, .by_text = true});
  query::StackTree tree;
  query::StackResolver resolver(*selection, locations, tree);
  std::vector<Request> requests;
  for (StackId stack = 0; stack < 40'000; ++stack) {
    requests.push_back({stack, 0, query::StackTree::kRoot});
  }
  std::vector<std::uint32_t> nodes;
  for (const bool begins : {false, true}) {
    if (begins) {
      resolver.begin(requests);
    }
    const Status failed = resolver.resolve(requests, nodes);
    REQUIRE(!failed);
    CHECK(failed.error().code == ErrorCode::kCorrupt);
  }
  resolver.begin(requests);  // which nobody goes on with
}

}  // namespace
}  // namespace stackpack::test
