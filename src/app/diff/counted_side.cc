#include "app/diff/counted_side.h"

#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "diff/function_identity.h"

namespace stackpack::app {

namespace {

Error usage(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

Result<ProfileUnit> unit_of(const CountedRun& run, std::size_t functions, CountedSum sum) {
  ProfileUnit unit;
  unit.samples = run.samples;
  unit.value = static_cast<double>(run.value);
  unit.squares = run.squares;
  unit.work = 1;
  std::uint64_t rest = run.value;
  for (const FunctionCount& count : run.counts) {
    if (count.function >= functions || count.self > rest || count.total > run.value ||
        count.self > count.total) {
      return usage(count.function >= functions ? "a count of no function that is listed"
                                               : "functions count for more than their run");
    }
    rest -= count.self;
    unit.nodes.push_back(count.function + 1);  // 0 is the root
    unit.values.push_back(sum == CountedSum::kSelf ? count.self : count.total);
  }
  if (sum == CountedSum::kSelf && rest != 0) {
    unit.nodes.push_back(query::StackTree::kRoot);  // without a callstack
    unit.values.push_back(rest);
  }
  return unit;
}

}  // namespace

Result<SideProfile> counted_side(std::span<const CountedRun> runs,
                                 std::span<const CountedFunction> functions, CountedSum sum) {
  SideProfile side;
  side.has_times = false;
  for (const CountedFunction& function : functions) {
    const auto number = static_cast<std::uint32_t>(side.entities.size());
    if (const auto node = side.tree.child(query::StackTree::kRoot, number); !node) {
      return node.error();
    }
    side.entities.push_back({function.name, function.module, "", {}});
    if (!function.build_id.empty()) {
      side.build_ids[diff::identity_of_module(function.module)].insert(function.build_id);
    }
  }
  for (const CountedRun& run : runs) {
    if (run.samples == 0) {
      ++side.runs_left_out;
      continue;
    }
    if (!std::isfinite(run.squares) || run.squares < 0) {
      return usage("the squares of a run are a number of 0 or more");
    }
    auto unit = unit_of(run, functions.size(), sum);
    if (!unit) {
      return unit.error();
    }
    side.samples += run.samples;
    side.units.push_back(std::move(*unit));
    ++side.runs;
  }
  return side;
}

}  // namespace stackpack::app
