// Which image an address belongs to: against a plain search, and how much is looked at.
#include "capture/module_map.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace stackpack;

namespace {

constexpr std::uint64_t kMapped = 0x10000;

Module mapping(std::uint32_t pid, std::uint64_t base, std::uint64_t size, std::uint64_t start_ns,
               std::uint64_t end_ns = kUnknownTime) {
  Module module;
  module.pid = pid;
  module.base = base;
  module.size = size;
  module.start_ns = start_ns;
  module.end_ns = end_ns;
  return module;
}

// The answer by looking at every image: the one mapped last; of several, the one further back in
// the order of their bases.
std::optional<std::uint32_t> plain_search(const std::vector<Module>& modules, std::uint32_t pid,
                                          std::uint64_t time_ns, std::uint64_t address) {
  std::optional<std::uint32_t> best;
  const auto start = [&](std::uint32_t i) {
    return modules[i].start_ns == kUnknownTime ? 0 : modules[i].start_ns;
  };
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    const Module& module = modules[i];
    const bool covers = module.pid == pid && module.size != 0 && address >= module.base &&
                        address - module.base < module.size && start(i) <= time_ns &&
                        time_ns <= module.end_ns;
    if (covers && (!best || start(i) > start(*best) ||
                   (start(i) == start(*best) && module.base >= modules[*best].base))) {
      best = i;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("module map: overlapping images give what looking at each of them gives") {
  constexpr unsigned kSeed = 77;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (const std::size_t count : {std::size_t{3}, std::size_t{40}, std::size_t{400}}) {
    CAPTURE(count);
    std::vector<Module> modules;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t start = random() % 8 == 0 ? kUnknownTime : random() % 100;
      const std::uint64_t end =
          random() % 4 == 0 ? kUnknownTime : (start == kUnknownTime ? 0 : start) + random() % 50;
      modules.push_back(mapping(7 + random() % 2, random() % 300, random() % 120, start, end));
    }
    modules.push_back(mapping(7, ~std::uint64_t{0} - 20, 21, 5));  // up to the last address
    modules.push_back(mapping(7, ~std::uint64_t{0} - 10, 100, 9, 60));
    const capture::ModuleMap map({}, modules);
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t address =
          random() % 10 == 0 ? ~std::uint64_t{0} - random() % 24 : random() % 430;
      const std::uint64_t time = random() % 160;
      const auto pid = static_cast<std::uint32_t>(7 + random() % 2);
      auto wanted = plain_search(modules, pid, time, address);
      const auto found = map.find(pid, time, {FrameMode::kUser, address});
      if (address > ~std::uint64_t{0} - 24) {  // the plain search does not wrap around
        CHECK((!found || found->module >= count));
        continue;
      }
      REQUIRE(found.has_value() == wanted.has_value());
      if (found) {
        CHECK(found->module == *wanted);
        CHECK(found->offset == address - modules[*wanted].base + modules[*wanted].file_offset);
      }
    }
  }
}

TEST_CASE("module map: a look-up among overlapping images looks at few of them") {
  constexpr std::uint32_t kParents = 64;
  std::vector<Process> processes;
  std::vector<Module> modules;
  for (std::uint32_t pid = 1; pid <= kParents; ++pid) {  // each forked by the one before
    Process process;
    process.pid = pid;
    process.parent_pid = pid - 1;
    process.start_ns = 1'000'000 + pid;
    process.inherits_mappings = true;
    processes.push_back(process);
  }
  struct Shape {
    const char* name;
    std::uint64_t base_step;
    std::uint64_t start_step;
    std::uint64_t life;
  };
  for (const Shape shape : {Shape{"one in the other, over when the next begins", 1, 2, 1},
                            {"all at one place", 0, 1, 1'000'000'000},
                            {"all at one time", 1, 0, 10}}) {
    CAPTURE(shape.name);
    modules.clear();
    constexpr std::uint64_t kEach = 1000;
    for (std::uint32_t pid = 1; pid <= kParents; ++pid) {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::uint64_t start = i * shape.start_step;
        modules.push_back(mapping(pid, kMapped + i * shape.base_step,
                                  4 * kEach - 2 * i * shape.base_step, start, start + shape.life));
      }
    }
    const capture::ModuleMap map(processes, modules);
    std::uint64_t steps = 0;
    constexpr std::uint64_t kLookUps = 100;
    for (std::uint64_t i = 0; i < kLookUps; ++i) {
      (void)map.find(kParents, 2'000'000, {FrameMode::kUser, kMapped + kEach + i}, &steps);
    }
    // 64 processes; in each a node a level, and in the worst of lists a few groups of 16.
    CHECK(steps > 0);
    CHECK(steps / kLookUps < kParents * 400);
  }
}
