// Branch stacks on their way into a file: each sample gets back what it had, within any memory.
#include "app/convert/branch_stack_spool.h"

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/memory_plan.h"
#include "spk/format/branch_codec.h"
#include "support/random_stacks.h"
#include "support/spk_reading.h"
#include "support/spk_surgery.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

using Stack = std::vector<StackedBranch>;

constexpr std::uint64_t kRoomy = std::uint64_t{64} << 20;

// Walks through a few branches, as programs do; some stacks begin alike.
std::vector<Stack> random_branch_stacks(std::uint64_t seed, std::size_t count,
                                        std::uint64_t places) {
  Random random(seed);
  std::vector<Stack> stacks;
  for (std::size_t i = 0; i < count; ++i) {
    Stack& stack = stacks.emplace_back();
    std::uint64_t place = random.below(places);
    const bool timed = random.below(3) != 0;
    const std::size_t depth = 1 + random.below(32);
    for (std::size_t entry = 0; entry < depth; ++entry) {
      place = random.below(8) == 0 ? random.below(places) : place / 2 + 1;
      stack.push_back({0x40'0000 + 16 * place, 0x7f00'0000'0000 + 4 * place,
                       random.below(3) | (timed ? random.below(200) << kBranchCyclesShift : 0)});
    }
  }
  return stacks;
}

// A file whose samples have these stacks, one each.
std::vector<std::byte> file_with(const std::vector<Stack>& stacks, app::BranchStackSpool& spool) {
  std::vector<FieldRow> numbered;
  for (const Stack& stack : stacks) {
    REQUIRE(spool.add(stack, numbered.emplace_back()));
    REQUIRE(numbered.back().has(SampleField::kBranchStack));
  }
  SpkContent content = random_content(3, 12, stacks.size());
  content.add_branch_stacks = [&](spk::BranchStackWriter& writer) { return spool.write(writer); };
  content.add_fields = [&](spk::FieldWriter& writer) {
    for (std::size_t i = 0; i < numbered.size(); ++i) {
      FieldRow row = numbered[i];
      row.sample = i;
      if (const Status settled = spool.settle(row); !settled) {
        return settled;
      }
      if (const Status added = writer.add(row); !added) {
        return added;
      }
    }
    return writer.end();
  };
  return spk_bytes(content);
}

std::vector<Stack> stacks_of_samples(const Reader& reader) {
  std::vector<Stack> stacks;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      REQUIRE(row.has(SampleField::kBranchStack));
      CHECK(reader.branch_stack(row, stacks.emplace_back()));
    }
    return true;
  });
  CHECK(failure(read).empty());
  return stacks;
}

std::vector<std::byte> encoded(const std::vector<StackedBranch>& rows) {
  spk::BlockContent content;
  spk::encode_branch_entries(rows, content);
  const auto bytes = content.bytes().bytes();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_SUITE("branch stacks") {
  TEST_CASE("branch stacks: every sample has the stack that it had, and each stack one id") {
    for (const std::size_t count : {1U, 100U, 5'000U}) {
      const std::vector<Stack> stacks = random_branch_stacks(count, count, 500);
      const ScratchDirectory folder;
      app::BranchStackSpool spool(folder.file("."), {}, kRoomy);
      const std::vector<std::byte> file = file_with(stacks, spool);
      const auto reader = open_spk(file);
      CHECK(failure(reader->verify()).empty());
      CHECK(reader->has_branch_stacks());
      CHECK(stacks_of_samples(*reader) == stacks);
      std::set<std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>> distinct;
      for (const Stack& stack : stacks) {
        std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> key;
        for (const StackedBranch& branch : stack) {
          key.emplace_back(branch.from, branch.to, branch.flags & ~kBranchCyclesMask);
        }
        distinct.insert(key);
      }
      CHECK(*reader->branch_stack_count() == distinct.size());
      Stack stack;
      FieldRow another;
      CHECK(reader->branch_stack(another, stack).has_value());
      another.set(SampleField::kBranchStack, distinct.size());
      CHECK_FALSE(reader->branch_stack(another, stack).has_value());
    }
  }

  TEST_CASE("branch stacks: a file is the same when the tree goes to disk in parts") {
    const std::vector<Stack> stacks = random_branch_stacks(5, 20'000, 20'000);
    const ScratchDirectory folder;
    app::BranchStackSpool roomy(folder.file("."), {}, kRoomy);
    app::MemoryPlan plan = app::MemoryPlan::of_branch_stacks(std::uint64_t{16} << 20);
    app::BranchStackSpool narrow(folder.file("."), plan, kRoomy);
    const std::vector<std::byte> wanted = file_with(stacks, roomy);
    CHECK(file_with(stacks, narrow) == wanted);
    CHECK(narrow.segments() > 1);
  }

  TEST_CASE("branch stacks: by content, a file does not show in which order stacks came") {
    using Numbering = app::BranchStackSpool::Numbering;
    const std::vector<Stack> stacks = random_branch_stacks(11, 20'000, 20'000);
    const ScratchDirectory folder;
    std::vector<std::byte> files[3];
    for (std::size_t i = 0; i < std::size(files); ++i) {
      const app::MemoryPlan plan =
          i == 2 ? app::MemoryPlan::of_branch_stacks(std::uint64_t{16} << 20) : app::MemoryPlan();
      app::BranchStackSpool spool(folder.file("."), plan, kRoomy, Numbering::kByContent);
      FieldRow ignored;
      for (std::size_t k = stacks.size(); i != 0 && k > 0; --k) {
        REQUIRE(spool.add(stacks[k - 1], ignored));
      }
      files[i] = file_with(stacks, spool);
      CHECK((spool.segments() > 1) == (i == 2));
    }
    const auto reader = open_spk(files[0]);
    CHECK(failure(reader->verify()).empty());
    CHECK(stacks_of_samples(*reader) == stacks);
    CHECK(files[1] == files[0]);
    CHECK(files[2] == files[0]);
  }

  TEST_CASE("branch stacks: a stack with a branch that has no room is left out and counted") {
    const ScratchDirectory folder;
    app::BranchStackSpool spool(folder.file("."), {}, 0);
    std::vector<Stack> kept;
    for (std::uint64_t i = 0; i < 4'096; ++i) {
      kept.push_back({{i, i, 0}});
      FieldRow row;
      REQUIRE(spool.add(kept.back(), row));
      CHECK(row.has(SampleField::kBranchStack));
    }
    FieldRow row;
    REQUIRE(spool.add(Stack{{1, 1, 0}, {1, 2, 3}}, row));
    CHECK(row.present == 0);
    CHECK(spool.left_out() == 1);
    REQUIRE(spool.add(Stack{{5, 5, 0}, {7, 7, 9 << kBranchCyclesShift}}, row));
    CHECK(row.has(SampleField::kBranchStack));
    CHECK(row.has(SampleField::kBranchCycles));
    CHECK(spool.left_out() == 1);
  }

  TEST_CASE("branch stacks: a file without them has none") {
    const std::vector<std::byte> file = spk_bytes(random_content(3, 12, 25));
    const auto reader = open_spk(file);
    CHECK_FALSE(reader->has_branch_stacks());
    CHECK(*reader->branch_stack_count() == 0);
    Stack stack;
    FieldRow row;
    row.set(SampleField::kBranchStack, 0);
    CHECK_FALSE(reader->branch_stack(row, stack).has_value());
  }

  TEST_CASE("branch stacks: cycles of another number of branches are found") {
    const ScratchDirectory folder;
    app::BranchStackSpool spool(folder.file("."), {}, kRoomy);
    FieldRow one;
    FieldRow two;
    const StackedBranch branch{5, 6, 7 << kBranchCyclesShift};
    REQUIRE(spool.add(Stack{branch}, one));
    REQUIRE(spool.add(Stack{branch, branch}, two));
    SpkContent content = random_content(3, 12, 25);
    content.add_branch_stacks = [&](spk::BranchStackWriter& writer) { return spool.write(writer); };
    content.add_fields = [&](spk::FieldWriter& writer) {
      one.set(SampleField::kBranchCycles, two.value(SampleField::kBranchCycles));
      Status added = spool.settle(one);
      added = added ? writer.add(one) : added;
      return added ? writer.end() : added;
    };
    const std::vector<std::byte> file = spk_bytes(content);
    CHECK(failure(open_spk(file)->verify()) == "spk: branch stack with other cycles");
  }

  TEST_CASE("branch stacks: a sample with a stack that is not there is refused and found") {
    constexpr std::uint32_t kUnusedKind = 39;  // passed over by readers
    const ScratchDirectory folder;
    SpkContent content = random_content(3, 12, 25);
    content.add_fields = [](spk::FieldWriter& writer) {
      FieldRow row;
      row.set(SampleField::kBranchStack, 0);
      const Status added = writer.add(row);
      return added ? writer.end() : added;
    };
    CHECK(failure(write_spk(content, {}, folder.file("refused.spk"))) ==
          "spk: a field of a sample names what is not there");

    app::BranchStackSpool spool(folder.file("."), {}, kRoomy);
    SpkParts parts = take_apart(file_with({Stack{{5, 6, 0}}}, spool));
    parts.section(spk::SectionKind::kBranchEntries).kind = kUnusedKind;
    const std::vector<std::byte> file = parts.join();
    CHECK(failure(open_spk(file)->verify()) ==
          "spk: a sample has a branch stack that is not there");
  }

  TEST_CASE("branch entries: any numbers come back; what is cut or changed is refused or read") {
    Random random(9);
    std::vector<StackedBranch> rows;
    for (std::size_t i = 0; i < 300; ++i) {
      rows.push_back({random.next(), random.next(), random.next() & ~kBranchCyclesMask});
    }
    rows.push_back({0, ~std::uint64_t{0}, 0});
    const std::vector<std::byte> bytes = encoded(rows);
    std::vector<StackedBranch> found;
    REQUIRE(spk::decode_branch_entries(bytes::ByteCursor(bytes, 0), found));
    CHECK(found == rows);
    found.clear();
    const std::vector<std::byte> timed = encoded({{1, 2, 1 << kBranchCyclesShift}});
    CHECK_FALSE(spk::decode_branch_entries(bytes::ByteCursor(timed, 0), found).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      found.clear();
      const std::span<const std::byte> part = std::span(bytes).first(size);
      CHECK_FALSE(spk::decode_branch_entries(bytes::ByteCursor(part, 0), found).has_value());
    }
  }
}

}  // namespace stackpack::test
