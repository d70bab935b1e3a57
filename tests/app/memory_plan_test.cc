#include "app/convert/memory_plan.h"

#include <doctest/doctest.h>

#include "io/this_machine.h"

using stackpack::ConvertOptions;
using stackpack::app::DefaultMemory;
using stackpack::app::MemoryPlan;
namespace io = stackpack::io;

TEST_CASE("memory plan: what is in use at the same time stays within the limit") {
  for (const std::uint64_t limit :
       {MemoryPlan::kLeastLimit, 100 * MemoryPlan::kMiB, 4096 * MemoryPlan::kMiB}) {
    CAPTURE(limit);
    const MemoryPlan plan = MemoryPlan::of_limit(limit);
    CHECK(plan.limit == limit);
    CHECK(plan.builder_bytes + plan.pending_bytes == limit);
    CHECK(plan.pending_bytes <= limit / 16);
    CHECK(plan.fact_bytes + plan.function_bytes <= MemoryPlan::kFixedBytes / 2 + limit / 4);
    const std::uint64_t writing = plan.id_bytes + plan.tally_bytes + plan.count_bytes;
    CHECK(writing <= limit / 4 + limit / 4 + limit / 16);
    CHECK(plan.table_bytes < limit + MemoryPlan::kFixedBytes);
  }
}

TEST_CASE("memory plan: more memory than needed changes nothing, and no limit is the most") {
  const MemoryPlan free = MemoryPlan::of_limit(0);
  CHECK(free.limit == 0);
  CHECK(free.builder_bytes == 0);
  CHECK(free.table_bytes == 0);
  const MemoryPlan large = MemoryPlan::of_limit(MemoryPlan::kMiB << 20);
  CHECK(large.pending_bytes == free.pending_bytes);
  CHECK(large.fact_bytes == free.fact_bytes);
  CHECK(large.function_bytes == free.function_bytes);
  CHECK(large.tally_bytes == free.tally_bytes);
  CHECK(large.count_bytes == free.count_bytes);
}

TEST_CASE("memory plan: the default differs from a limit in what would show in the file") {
  const std::uint64_t bound = 64 * MemoryPlan::kMiB;
  const MemoryPlan plan = MemoryPlan::of_default(bound);
  const MemoryPlan limited = MemoryPlan::of_limit(bound);
  CHECK(plan.limit == bound);
  CHECK(plan.builder_bytes == limited.builder_bytes);
  CHECK(plan.id_bytes == limited.id_bytes);
  CHECK(plan.fact_bytes == MemoryPlan().fact_bytes);
  CHECK(plan.fact_bytes > limited.fact_bytes);
  CHECK(plan.cache_bytes > bound / 16);
}

TEST_CASE("memory plan: the default is one number, less only where memory is short") {
  constexpr std::uint64_t kGiB = 1024 * MemoryPlan::kMiB;
  constexpr std::uint64_t kUsual = ConvertOptions::kDefaultMemory;
  CHECK(DefaultMemory::of_machine(io::kNoMemoryLimit, 1) == kUsual);
  CHECK(DefaultMemory::of_machine(1024 * kGiB, 1) == kUsual);
  CHECK(DefaultMemory::of_machine(2 * kGiB, 1) == kUsual);
  CHECK(DefaultMemory::of_machine(2 * kGiB - 4, 1) == kUsual - 1);
  CHECK(DefaultMemory::of_machine(8 * kGiB, 4) == kUsual);
  CHECK(DefaultMemory::of_machine(8 * kGiB, 8) == kUsual / 2);
  CHECK(DefaultMemory::of_machine(kGiB, 0) == kUsual / 2);
  CHECK(DefaultMemory::of_machine(1, 1000) == DefaultMemory::kLeast);
}
