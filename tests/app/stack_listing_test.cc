// How often each callstack was recorded.
#include "app/listing/stack_listing.h"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "support/spk_reading.h"

namespace stackpack::test {

TEST_CASE("stack listing: damaged counts of callstacks are an error") {
  spk::WriterOptions options;
  options.samples = false;
  const SpkContent content = random_content(3, 20, 200);
  const std::vector<std::byte> file = spk_bytes(content, options);
  const auto whole = app::count_recorded_stacks(*open_spk(file), {});
  REQUIRE(whole.has_value());
  CHECK(std::accumulate(whole->counts.begin(), whole->counts.end(), std::uint64_t{0}) ==
        static_cast<std::uint64_t>(std::count_if(
            content.samples.begin(), content.samples.end(),
            [](const StoredSample& sample) { return sample.origin == StackOrigin::kRecorded; })));
  int failed = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::vector<std::byte> damaged = file;
    damaged[at] ^= std::byte{0x55};
    const auto reader = Reader::open_memory(damaged);
    if (!reader || !(*reader)->metadata() || (*reader)->stack_counts()) {
      continue;
    }
    ++failed;
    const auto stacks = app::count_recorded_stacks(**reader, {});
    REQUIRE_FALSE(stacks.has_value());
    CHECK(stacks.error().what == (*reader)->stack_counts().error().what);
  }
  CHECK(failed > 10);
}

}  // namespace stackpack::test
