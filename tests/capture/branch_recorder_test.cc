// Branches of samples, summed up by image: against a plain count, in little memory, over changing
// mappings.
#include "capture/branch_recorder.h"

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "capture/branch_order.h"
#include "support/temporary_folder.h"

using namespace stackpack;
using capture::BranchEntry;
using capture::BranchRecorder;

namespace {

constexpr std::uint64_t kCode = 0x400000;   // of image 0, of every process
constexpr std::uint64_t kOther = 0x7f0000;  // of image 1
constexpr std::uint64_t kNowhere = 0x10;    // no image has it
constexpr std::uint64_t kKernelCode = 0xffffffff81000000;

Module mapped(std::uint32_t pid, std::uint64_t base, std::string path,
              std::uint64_t start_ns = kUnknownTime, std::uint64_t end_ns = kUnknownTime) {
  Module module;
  module.pid = pid;
  module.base = base;
  module.size = 0x1000;
  module.start_ns = start_ns;
  module.end_ns = end_ns;
  module.path = std::move(path);
  return module;
}

capture::SystemTables two_processes() {
  capture::SystemTables tables;
  tables.modules = {mapped(7, kCode, "/a"), mapped(7, kOther, "/b"), mapped(8, kCode, "/a"),
                    mapped(8, kOther, "/b"), mapped(kKernelPid, kKernelCode, "[kernel]")};
  return tables;
}

struct Found {
  std::vector<BranchEdge> edges;
  std::vector<BranchRange> ranges;
  capture::LossCounters losses;
};

Found finish(BranchRecorder& recorder, const capture::SystemTables& tables) {
  Found found;
  const Status done = recorder.finish(
      tables, found.losses,
      [&](const BranchEdge& row) {
        found.edges.push_back(row);
        return Status{};
      },
      [&](const BranchRange& row) {
        found.ranges.push_back(row);
        return Status{};
      });
  REQUIRE(done);
  return found;
}

BranchEntry entry(std::uint64_t from, std::uint64_t to) {
  BranchEntry made;
  made.from = from;
  made.to = to;
  return made;
}

// As it was recorded.
std::vector<StackedBranch> recorded(const std::vector<BranchEntry>& stack) {
  std::vector<StackedBranch> branches;
  for (const BranchEntry& one : stack) {
    const std::uint64_t flags = (one.mispredicted ? 1U : 2U) |
                                std::uint64_t{one.cycles} << kBranchCyclesShift |
                                std::uint64_t{static_cast<unsigned>(one.type)} << 20U |
                                std::uint64_t{one.wrong_path ? 1U : 3U} << 24U;
    branches.push_back({one.from, one.to, flags});
  }
  return branches;
}

// The image of an address by its numbers alone.
std::uint32_t image_of(std::uint64_t address) {
  return address - kCode < 0x1000         ? 0
         : address - kOther < 0x1000      ? 1
         : address - kKernelCode < 0x1000 ? 4
                                          : kNoImage;
}

std::uint64_t offset_of(std::uint64_t address) {
  constexpr std::uint64_t kBases[] = {kCode, kOther, 0, 0, kKernelCode};
  const std::uint32_t image = image_of(address);
  return image == kNoImage ? address : address - kBases[image];
}

}  // namespace

TEST_CASE("branches: sums are those of a plain count, whatever the memory") {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{64} << 20}) {
    CAPTURE(bytes);
    const test::ScratchDirectory directory;
    BranchRecorder recorder;
    recorder.configure(directory.file("."), bytes);
    constexpr unsigned kSeed = 5;
    std::mt19937_64 random(kSeed);
    using EdgeKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, int, bool>;
    std::map<EdgeKey, std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>> edges;
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>,
             std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>
        ranges;
    std::map<std::string, std::uint64_t> left_out;
    std::map<std::string, std::uint64_t> first_offsets;
    const auto address = [&random] {
      constexpr std::uint64_t kPlaces[] = {kCode, kCode, kCode, kOther, kKernelCode, kNowhere};
      return kPlaces[random() % 6] + random() % 80;
    };
    std::vector<std::vector<BranchEntry>> before;
    for (int i = 0; i < 4'000; ++i) {
      std::vector<BranchEntry> stack;
      for (std::size_t n = random() % 12; n > 0; --n) {
        BranchEntry made = entry(address(), address());
        if (!stack.empty() && random() % 3 == 0) {
          made = stack.back();
        }
        made.type = static_cast<BranchType>(random() % 3);
        made.mispredicted = random() % 4 == 0;
        made.wrong_path = random() % 5 == 0;
        made.cycles = static_cast<std::uint32_t>(random() % 50);
        stack.push_back(made);
      }
      if (!before.empty() && random() % 2 == 0) {
        stack = before[before.size() - 1 - random() % std::min<std::size_t>(before.size(), 40)];
      } else {
        before.push_back(stack);
      }
      const auto event = static_cast<std::uint32_t>(random() % 2);
      const auto pid = static_cast<std::uint32_t>(7 + random() % 2);
      if (random() % 8 == 0) {
        recorder.begin_epoch(pid);
      }
      const std::uint64_t offset = 4096 + 8 * static_cast<std::uint64_t>(i);
      REQUIRE(recorder.add({event, pid, 100, offset}, recorded(stack)));
      const auto leave_out = [&](const std::string& name, std::uint64_t count) {
        left_out[name] += count;
        if (count != 0) {
          first_offsets.try_emplace(name, offset);
        }
      };
      for (std::size_t k = 0; k < stack.size(); ++k) {
        const BranchEntry& e = stack[k];
        auto& [count, mispredicted, cycles, heads] =
            edges[{event, e.from, e.to, static_cast<int>(e.type), e.wrong_path}];
        ++count;
        mispredicted += e.mispredicted ? 1U : 0U;
        cycles += e.cycles;
        const bool head =
            stack.size() > 1 && stack[0].from == stack[1].from && stack[0].to == stack[1].to;
        heads += k == 0 && head ? 1U : 0U;
        leave_out("branch_ends_without_image", (image_of(e.from) == kNoImage ? 1U : 0U) +
                                                   (image_of(e.to) == kNoImage ? 1U : 0U));
        if (k == 0) {
          continue;
        }
        const std::uint64_t end = stack[k - 1].from;
        if (image_of(e.to) == kNoImage || image_of(end) == kNoImage) {
          leave_out("branch_ranges_without_image", 1);
        } else if (image_of(e.to) != image_of(end)) {
          leave_out("branch_ranges_across_images", 1);
        } else if (e.to > end) {
          leave_out("branch_ranges_backward", 1);
        } else {
          auto& [times, duplicates, wrong] = ranges[{event, e.to, end}];
          ++times;
          duplicates += k == 1 && head ? 1U : 0U;
          wrong += e.wrong_path || stack[k - 1].wrong_path ? 1U : 0U;
        }
      }
    }
    CHECK_FALSE(recorder.empty());
    const Found found = finish(recorder, two_processes());
    REQUIRE(found.edges.size() == edges.size());
    for (const auto& [key, sums] : edges) {
      const auto& [event, from, to, type, wrong] = key;
      BranchEdge wanted;
      wanted.event = event;
      wanted.from_image = image_of(from);
      wanted.from = offset_of(from);
      wanted.to_image = image_of(to);
      wanted.to = offset_of(to);
      wanted.type = static_cast<BranchType>(type);
      wanted.wrong_path = wrong;
      const auto at = std::lower_bound(found.edges.begin(), found.edges.end(), wanted,
                                       capture::is_before<BranchEdge>);
      REQUIRE(at != found.edges.end());
      CHECK(branch_key(*at) == branch_key(wanted));
      CHECK(std::tuple(at->count, at->mispredicted, at->cycles, at->head_duplicates) == sums);
    }
    REQUIRE(found.ranges.size() == ranges.size());
    for (const auto& [key, sums] : ranges) {
      const auto& [event, begin, end] = key;
      BranchRange wanted;
      wanted.event = event;
      wanted.image = image_of(begin);
      wanted.begin = offset_of(begin);
      wanted.end = offset_of(end);
      const auto at = std::lower_bound(found.ranges.begin(), found.ranges.end(), wanted,
                                       capture::is_before<BranchRange>);
      REQUIRE(at != found.ranges.end());
      CHECK(branch_key(*at) == branch_key(wanted));
      CHECK(std::tuple(at->count, at->head_duplicates, at->wrong_path) == sums);
    }
    for (const auto& [name, count] : left_out) {
      CAPTURE(name);
      CHECK(found.losses.count(name) == count);
    }
    for (const LossCounter& loss : found.losses.sorted()) {
      CAPTURE(loss.name);
      CHECK(loss.first_offset == first_offsets.at(loss.name));
    }
  }
}

TEST_CASE("branches: an address is looked up in the mapping of its time") {
  BranchRecorder recorder;
  const std::vector<StackedBranch> stack =
      recorded({entry(kCode + 8, kCode + 2), entry(kCode + 5, kCode + 1)});
  REQUIRE(recorder.add({0, 7, 10}, stack));
  recorder.begin_epoch(7);
  REQUIRE(recorder.add({0, 7, 30}, stack));
  capture::SystemTables tables;
  tables.modules = {mapped(7, kCode, "/first", kUnknownTime, 20), mapped(7, kCode, "/second", 21)};
  const Found found = finish(recorder, tables);
  REQUIRE(found.ranges.size() == 2);
  CHECK(found.ranges[0].image == 0);
  CHECK(found.ranges[1].image == 1);
  for (const BranchRange& range : found.ranges) {
    CHECK(std::tuple(range.begin, range.end, range.count) ==
          std::tuple(std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{1}));
  }
  CHECK(found.edges.size() == 4);
}

TEST_CASE("branches: images of one build id are one, and without it those of one path") {
  BranchRecorder recorder;
  REQUIRE(recorder.add({0, 7, 10}, recorded({entry(kCode + 8, kOther + 2)})));
  REQUIRE(recorder.add({0, 8, 10}, recorded({entry(kCode + 8, kOther + 2)})));
  capture::SystemTables tables = two_processes();
  tables.modules[0].path = "/another/name";
  for (const std::size_t row : {0U, 2U}) {
    tables.modules[row].build_id_kind = BuildIdKind::kGnu;
    tables.modules[row].build_id = {1, 2, 3};
  }
  const Found found = finish(recorder, tables);
  REQUIRE(found.edges.size() == 1);
  CHECK(found.edges[0].count == 2);
  CHECK(found.edges[0].from_image == 0);
  CHECK(found.edges[0].to_image == 1);
}
