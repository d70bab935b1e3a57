// Damaged ELF files, 1,600 of them, always the same: whatever is wrong in headers and tables, every
// address has an answer, in bounded steps.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"
#include "unwind/code_tables.h"

using namespace stackpack;

namespace {

// Bytes of testdata/unwind/framed that say where things are, and those that say how to unwind.
struct MutatedRange {
  std::size_t begin = 0;
  std::size_t size = 0;
};
constexpr MutatedRange kHeaders{0, 64 + 7 * 56};
constexpr MutatedRange kHeaderTable{0x2050, 0x9C};
constexpr MutatedRange kFrames{0x20F0, 0x298};
constexpr MutatedRange kSections{0x35D0, 12 * 64};

class MutationRandom {
 public:
  explicit MutationRandom(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state_ >> 33) % bound);
  }

 private:
  std::uint64_t state_;
};

struct MutationOutcome {
  std::uint64_t rules = 0;
  std::uint64_t bad = 0;
  std::uint64_t none = 0;
  bool opened = false;
};

MutationOutcome ask_everything(const std::vector<std::byte>& file) {
  constexpr std::uint64_t kSteps = 100'000;
  MutationOutcome outcome;
  const auto source = io::source_of_memory(file);
  Result<unwind::ElfLayout> layout = unwind::read_elf_layout(*source);
  if (!layout) {
    return outcome;
  }
  outcome.opened = true;
  unwind::RuleTable rules(layout->machine);
  unwind::CodeTables tables(std::move(*layout), {}, kSteps);
  for (std::uint64_t address = 0x401000; address < 0x40159C; address += 3) {
    const unwind::CodeTables::Found found = tables.find(address, rules);
    CHECK((found.answer == unwind::TableAnswer::kRule) == (found.rule < rules.size()));
    outcome.rules += found.answer == unwind::TableAnswer::kRule ? 1U : 0U;
    outcome.bad += found.answer == unwind::TableAnswer::kBad ? 1U : 0U;
    outcome.none += found.answer == unwind::TableAnswer::kNone ? 1U : 0U;
  }
  CHECK(tables.steps_left() <= kSteps);
  return outcome;
}

}  // namespace

TEST_CASE("mutated ELF files: every address has an answer") {
  const std::vector<std::byte> file =
      test::read_test_file(std::string(test::source_folder()) + "/testdata/unwind/framed");
  REQUIRE(file.size() > kSections.begin + kSections.size - 1);
  const MutationOutcome good = ask_everything(file);
  CHECK(good.bad == 0);
  CHECK(good.rules > 400);
  std::uint64_t opened = 0;
  std::uint64_t other = 0;
  std::uint64_t bad = 0;
  constexpr std::size_t kFiles = 1600;
  for (std::size_t number = 0; number < kFiles; ++number) {
    MutationRandom random(number);
    std::vector<std::byte> damaged = file;
    const MutatedRange range =
        std::vector{kFrames, kFrames, kHeaderTable, kSections, kHeaders}[number % 5];
    for (std::size_t changes = 1 + random.below(6); changes != 0; --changes) {
      const std::size_t at = range.begin + random.below(range.size);
      const std::size_t how = random.below(3);
      damaged[at] = how == 0   ? damaged[at] ^ static_cast<std::byte>(1U << random.below(8))
                    : how == 1 ? std::byte{0xFF}
                               : static_cast<std::byte>(random.below(256));
    }
    if (random.below(16) == 0) {
      damaged.resize(random.below(damaged.size()));
    }
    CAPTURE(number);
    const MutationOutcome outcome = ask_everything(damaged);
    opened += outcome.opened ? 1U : 0U;
    other += outcome.opened && outcome.rules != good.rules ? 1U : 0U;
    bad += outcome.bad != 0 ? 1U : 0U;
  }
  // The damage is where it is looked at.
  CHECK(opened > kFiles / 2);
  CHECK(other > kFiles / 10);
  CHECK(bad > kFiles / 50);
}
