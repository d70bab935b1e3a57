#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/source_folder.h"
#include "support/test_bytes.h"

namespace fs = std::filesystem;

#define STACKPACK_FUZZ_TARGET(name)           \
  namespace stackpack::fuzz {                 \
  void name(std::span<const std::byte> data); \
  }
#include "fuzz_target_table.inc"
#undef STACKPACK_FUZZ_TARGET

namespace {

struct Target {
  const char* name;
  void (*body)(std::span<const std::byte>);
};

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = {
#define STACKPACK_FUZZ_TARGET(name) {#name, &stackpack::fuzz::name},
#include "fuzz_target_table.inc"
#undef STACKPACK_FUZZ_TARGET
  };
  return targets;
}

}  // namespace

TEST_CASE("fuzz targets: every corpus replays, and no target is without one") {
  for (const Target& target : all_targets()) {
    CAPTURE(target.name);
    const fs::path corpus =
        fs::path(stackpack::test::source_folder()) / "fuzz" / "corpus" / target.name;
    REQUIRE(fs::is_directory(corpus));
    std::size_t inputs = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(corpus)) {
      const std::string file = entry.path().filename().string();
      CAPTURE(file);
      target.body(stackpack::test::read_test_file(entry.path().string()));
      ++inputs;
    }
    target.body({});
    CHECK(inputs > 0);
  }
}
