#include "query/naming/stack_entities.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "query/naming/broken_roots.h"

namespace stackpack::test {
namespace {

// Both processes have code at 0x1000; at 0x3000 and 0x4000 one of them has.
HandMadeCapture two_processes() {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  for (const std::uint32_t pid : {1U, 2U}) {
    capture.add_thread(pid, pid, "process");
    capture.add_module(pid, 0x1000, 0x1000, "/bin/p" + std::to_string(pid));
    capture.add_module(pid, 0x2000 + 0x1000 * pid, 0x1000, "/lib/l" + std::to_string(pid));
  }
  capture.add_module(kKernelPid, 0xffff0000, 0x10000, "[kernel.kallsyms]");
  const StackId stack = capture.add_stack({user(0x1010)});
  for (const std::uint32_t pid : {1U, 2U}) {
    capture.add_sample(pid, pid, pid, stack);
  }
  return capture;
}

bool is_code(const Frame& frame, std::uint32_t pid) {
  const std::uint64_t page = frame.address / 0x1000;
  return page == 1 || page == 2 + pid;
}

// The rule of BrokenRoots, from the root on.
std::size_t broken_by_rule(const std::vector<Frame>& leaf_first, std::uint32_t pid) {
  for (std::size_t i = 0; i < leaf_first.size(); ++i) {
    const Frame& frame = leaf_first[leaf_first.size() - 1 - i];
    if (frame.mode != FrameMode::kUser) {
      return 0;
    }
    if (is_code(frame, pid)) {
      return i;
    }
  }
  return 0;
}

TEST_CASE("naming: what a callstack is depends on its process, not on those before it") {
  const HandMadeCapture capture = two_processes();
  const query::CaptureView view = capture.view();
  ExportOptions options;
  options.all_events = true;
  const auto selection = query::SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  REQUIRE((*selection)->for_each([](auto) { return Status{}; }).has_value());
  const auto& contexts = (*selection)->contexts();
  REQUIRE(contexts.size() == 2);

  query::BrokenRoots roots(**selection);
  query::FrameEntities entities(**selection, query::FrameGrain::kOffset);
  query::StackEntities kept(entities);
  query::StackEntities folding(entities, true);
  const auto names_of = [&](std::span<const std::uint32_t> numbers) {
    std::vector<std::string> names;
    for (const std::uint32_t number : numbers) {
      const query::FrameEntity& entity = entities.all()[number];
      names.push_back(entity.name + '|' + entity.module);
    }
    return names;
  };
  std::mt19937 random(5);
  std::vector<Frame> root_first;
  for (int i = 0; i < 4'000; ++i) {
    // Callstacks begin alike, or are the same in another process.
    if (random() % 3 != 0) {
      root_first.resize(std::min<std::size_t>(root_first.size(), random() % 4));
      for (std::size_t more = 1 + random() % 3; more-- > 0;) {
        root_first.push_back(user(0x1010 + 0x1000 * (random() % 4) + 16 * (random() % 2)));
      }
      if (random() % 5 == 0) {
        root_first.push_back(kernel(0xffff0010));
      }
    }
    const std::vector<Frame> leaf_first(root_first.rbegin(), root_first.rend());
    const auto context = static_cast<std::uint32_t>(random() % 2);
    const std::size_t broken = broken_by_rule(leaf_first, contexts[context].pid);
    CAPTURE(i);
    REQUIRE(roots.count(leaf_first, context) == broken);

    query::StackEntities fresh(entities);
    const std::vector<std::string> whole = names_of(fresh.of(leaf_first, context));
    REQUIRE(whole.size() == leaf_first.size());
    REQUIRE(names_of(kept.of(leaf_first, context)) == whole);
    // Broken frames are one, at the root; the rest is as it is without them.
    std::vector<std::string> folded(whole.begin(),
                                    whole.end() - static_cast<std::ptrdiff_t>(broken));
    const std::vector<std::string> found = names_of(folding.of(leaf_first, context));
    if (broken != 0) {
      folded.push_back(std::string(query::kBrokenRoot) + '|');
    }
    REQUIRE(found == folded);
    const std::string own = std::to_string(contexts[context].pid);
    for (const std::string& name : whole) {
      REQUIRE((name.find("/bin/p") == std::string::npos ||
               name.find("/bin/p" + own) != std::string::npos));
    }
  }
}

}  // namespace
}  // namespace stackpack::test
