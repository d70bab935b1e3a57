#include "app/convert/merge_losses.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/merge.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kWherePlacesAre = 0x8000'0000'0000'1000;
constexpr std::uint64_t kKernelCode = 0xffff'ffff'8100'0010;

// A file of three samples: a frame where a merge puts images, one of a kernel without a mapping,
// and one that is neither.
std::string unplaced_file(const ScratchDirectory& folder, const std::string& name,
                          std::uint64_t start_ns) {
  SpkContent content;
  content.events = {{"cpu-clock", true}};
  const std::vector<RootFirstStack> stacks = {
      {{FrameMode::kUser, 0x1000}},
      {{FrameMode::kUser, 0x1000}, {FrameMode::kUser, kWherePlacesAre}},
      {{FrameMode::kUser, 0x1000}, {FrameMode::kKernel, kKernelCode}}};
  content.stacks.insert(stacks.begin(), stacks.end());
  for (StackId stack = 0; stack < stacks.size(); ++stack) {
    StoredSample sample;
    sample.time_ns = start_ns + stack;
    sample.pid = sample.tid = 7;
    sample.origin = StackOrigin::kRecorded;
    sample.stack = stack;
    content.samples.push_back(sample);
  }
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "prog", ""}};
  std::string path = folder.file(name);
  std::ofstream out(path, std::ios::binary);
  for (const std::byte byte : spk_bytes(content)) {
    out.put(static_cast<char>(byte));
  }
  return path;
}

std::uint64_t count_of(const Statistics& statistics, std::string_view name) {
  const auto found = std::find_if(statistics.losses.begin(), statistics.losses.end(),
                                  [&](const auto& loss) { return loss.name == name; });
  return found == statistics.losses.end() ? 0 : found->count;
}

TEST_SUITE("losses of a merge") {
  TEST_CASE("merge: frames without a place are counted, and one in the way is moved") {
    const ScratchDirectory folder;
    const std::string first = unplaced_file(folder, "a.spk", 1000);
    const std::string second = unplaced_file(folder, "b.spk", 9000);
    const auto one = merge({first}, folder.file("one.spk"), {}, nullptr);
    REQUIRE_MESSAGE(one.has_value(), failure(one));
    CHECK(count_of(one->statistics, app::merge_loss::kMovedFrames) == 1);
    CHECK(count_of(one->statistics, app::merge_loss::kKernelFramesLeft) == 1);

    const auto two = merge({first, second}, folder.file("two.spk"), {}, nullptr);
    REQUIRE_MESSAGE(two.has_value(), failure(two));
    CHECK(count_of(two->statistics, app::merge_loss::kMovedFrames) == 2);
    CHECK(count_of(two->statistics, app::merge_loss::kKernelFramesLeft) == 2);
    // A merge of merges keeps them, once a source.
    const auto again = merge({folder.file("two.spk"), folder.file("one.spk"), second},
                             folder.file("again.spk"), {}, nullptr);
    REQUIRE_MESSAGE(again.has_value(), failure(again));
    CHECK(count_of(again->statistics, app::merge_loss::kMovedFrames) == 2);
    CHECK(count_of(again->statistics, app::merge_loss::kKernelFramesLeft) == 2);

    const auto reader = Reader::open(folder.file("two.spk"));
    REQUIRE(reader.has_value());
    const auto stacks = stacks_in(**reader);
    REQUIRE(stacks.has_value());
    CHECK(stacks->size() == 3);
    const auto has = [&](const Frame& frame) {
      return std::any_of(stacks->begin(), stacks->end(), [&](const RootFirstStack& stack) {
        return std::find(stack.begin(), stack.end(), frame) != stack.end();
      });
    };
    CHECK(has({FrameMode::kUser, kWherePlacesAre | std::uint64_t{1} << 62}));
    CHECK_FALSE(has({FrameMode::kUser, kWherePlacesAre}));
    CHECK(has({FrameMode::kKernel, kKernelCode}));
  }
}

}  // namespace
}  // namespace stackpack::test
