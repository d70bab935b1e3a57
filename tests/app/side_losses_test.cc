#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/diff/difference_page.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

SpkContent lossy_content(std::uint64_t seed, std::uint64_t lost) {
  SpkContent content = random_content(seed, 50, 200);
  for (std::size_t i = 0; i < content.samples.size(); ++i) {
    StoredSample& sample = content.samples[i];
    sample.flags = 0;
    sample.origin = sample.stack == kNoStack ? StackOrigin::kNone
                    : i % 4 == 0             ? StackOrigin::kIpOnly
                                             : StackOrigin::kRecorded;
  }
  content.losses = {{"lost_records", LossKind::kRecorder, lost, ~std::uint64_t{0}}};
  return content;
}

std::uint64_t count_of(const std::vector<exporting::PageLoss>& losses, std::string_view name) {
  std::uint64_t sum = 0;
  for (const exporting::PageLoss& loss : losses) {
    sum += loss.name == name ? loss.count : 0;
    CHECK(loss.text.starts_with("before: "));
  }
  return sum;
}

}  // namespace

TEST_SUITE("side losses") {
  TEST_CASE("side losses: those of all runs are added up, and what is no callstack is said") {
    const std::vector<std::byte> one = spk_bytes(lossy_content(3, 20));
    const std::vector<std::byte> two = spk_bytes(lossy_content(4, 3));
    const auto first = open_spk(one);
    const auto second = open_spk(two);
    const std::array<const Reader*, 2> runs{first.get(), second.get()};
    const auto losses = app::losses_of_side(runs, "before", 7);
    CHECK(count_of(losses, "lost_records") == 23);
    CHECK(count_of(losses, "samples_without_callstack") == 7);
    const std::uint64_t ip_only =
        first->statistics().samples.ip_only + second->statistics().samples.ip_only;
    REQUIRE(first->statistics().samples.ip_only > 0);
    REQUIRE(second->statistics().samples.ip_only > 0);
    CHECK(count_of(losses, "samples_with_instruction_pointer_only") == ip_only);
    CHECK(app::losses_of_side({}, "before", 0).empty());
  }
}

}  // namespace stackpack::test
