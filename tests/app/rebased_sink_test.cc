#include "app/merge/rebased_sink.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/capture_spool.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::test {
namespace {

// Adds callstacks, none like another, until there is an error or there are enough of them.
Status add_many_stacks(app::RebasedSink& sink) {
  constexpr std::uint32_t kStacks = 200'000;
  constexpr std::size_t kDepth = 16;
  std::vector<Frame> frames(kDepth);
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    for (std::size_t k = 0; k < kDepth; ++k) {
      frames[k] = {FrameMode::kUser, (std::uint64_t{i} * kDepth + k) * 16};
    }
    if (const Status added = sink.add_stack(i, frames); !added) {
      return added;
    }
  }
  return sink.finish();
}

}  // namespace

TEST_SUITE("rebased sink") {
  TEST_CASE("rebased sink: a temporary file that cannot be written is no fault of an input") {
    for (const unsigned threads : {0U, 1U}) {
      app::CaptureSpool spool({.scratch_directory = "/there/is/no/such/folder",
                               .memory_limit = std::uint64_t{16} << 20,
                               .builder_bytes = std::uint64_t{4} << 20,
                               .merges = true});
      app::RebasedSink sink(spool, threads);
      const Status status = add_many_stacks(sink);
      REQUIRE_FALSE(status.has_value());
      CHECK(status.error().code == ErrorCode::kIo);
      CHECK(status.error().part == kOutputPart);
    }
  }
}

}  // namespace stackpack::test
