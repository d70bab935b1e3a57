#include <doctest/doctest.h>

#include "io/this_machine.h"

namespace stackpack::io {

TEST_CASE("machine memory: this machine has some") {
  const std::uint64_t usable = usable_memory();
  CHECK(usable > 1U << 24);
  CHECK(usable < kNoMemoryLimit);
}

}  // namespace stackpack::io
