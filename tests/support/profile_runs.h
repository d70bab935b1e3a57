// Profiles by function, for comparisons.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/diff.h"
#include "stackpack/names.h"
#include "support/spk_reading.h"

namespace stackpack::test {

// Samples of callstacks of functions, root first; a function is a name.
struct FunctionSamples {
  std::vector<std::string> path;
  int count = 0;
  std::uint32_t event = 0;
};

inline constexpr std::uint64_t kMillisecond = 1'000'000;

// Every function has ten bytes of process 7; samples come in a random order, one a millisecond.
inline SpkContent content_of(const std::vector<FunctionSamples>& groups, std::uint64_t seed,
                             std::uint64_t weight = 1) {
  SpkContent content;
  content.events = {{"cpu-clock", true}, {"page-faults", false}};
  std::vector<std::string> names;
  const auto address_of = [&](const std::string& name) -> std::uint64_t {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      names.push_back(name);
      found = names.end() - 1;
    }
    return 1000 + 10 * static_cast<std::uint64_t>(found - names.begin()) + 5;
  };
  std::vector<RootFirstStack> stacks;
  for (const FunctionSamples& group : groups) {
    RootFirstStack stack;
    for (const std::string& name : group.path) {
      stack.push_back({FrameMode::kUser, address_of(name)});
    }
    stacks.push_back(stack);
    content.stacks.insert(stack);
  }
  const std::vector<RootFirstStack> sorted(content.stacks.begin(), content.stacks.end());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    StoredSample sample;
    sample.pid = sample.tid = 7;
    sample.event = groups[i].event;
    sample.weight = weight;
    sample.origin = StackOrigin::kRecorded;
    sample.stack =
        static_cast<StackId>(std::find(sorted.begin(), sorted.end(), stacks[i]) - sorted.begin());
    content.samples.insert(content.samples.end(), static_cast<std::size_t>(groups[i].count),
                           sample);
  }
  Random random(seed);
  for (std::size_t i = content.samples.size(); i > 1; --i) {
    std::swap(content.samples[i - 1], content.samples[random.below(i)]);
  }
  for (std::size_t i = 0; i < content.samples.size(); ++i) {
    content.samples[i].time_ns = i * kMillisecond;
  }
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "prog", ""}};
  content.add_names = [names](spk::NameWriter& writer) {
    Status added;
    for (std::size_t i = 0; i < names.size() && added; ++i) {
      Function function;
      function.pid = 7;
      function.start = 1000 + 10 * i;
      function.size = 10;
      added = writer.add(function, {names[i], "", ""});
    }
    return added;
  };
  return content;
}

/// Files in memory, open.
class Runs {
 public:
  Runs& add(const std::vector<FunctionSamples>& groups, std::uint64_t seed = 1,
            std::uint64_t weight = 1) {
    return add_content(content_of(groups, seed, weight));
  }
  Runs& add_content(const SpkContent& content) {
    files_.push_back(std::make_unique<std::vector<std::byte>>(spk_bytes(content)));
    readers_.push_back(open_spk(*files_.back()));
    all_.push_back(readers_.back().get());
    return *this;
  }
  [[nodiscard]] std::span<const Reader* const> all() const { return all_; }

 private:
  std::vector<std::unique_ptr<std::vector<std::byte>>> files_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::vector<const Reader*> all_;
};

inline DiffReport compared(const Runs& before, const Runs& after, const DiffOptions& options = {}) {
  Result<DiffReport> report = compare_profiles(before.all(), after.all(), options);
  REQUIRE_MESSAGE(report.has_value(), failure(report));
  return std::move(report).value();
}

inline const DiffRow& row_of(const DiffReport& report, const std::string& name,
                             std::size_t event = 0) {
  const std::vector<DiffRow>& rows = report.events.at(event).rows;
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const DiffRow& row) { return row.name == name; });
  REQUIRE_MESSAGE(found != rows.end(), name);
  return *found;
}

}  // namespace stackpack::test
