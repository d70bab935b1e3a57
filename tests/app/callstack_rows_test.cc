#include "app/analysis/callstack_rows.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/analysis/hot_spots.h"

using namespace stackpack;

namespace {

std::string text_of(const std::vector<std::uint32_t>& leaf_first,
                    const std::vector<query::FrameEntity>& entities) {
  std::string text;
  for (auto entity = leaf_first.rbegin(); entity != leaf_first.rend(); ++entity) {
    text += (text.empty() ? "" : ";") + entities[*entity].name;
  }
  return text.empty() ? "[no callstack]" : text;
}

std::vector<query::FrameEntity> entities_called(std::initializer_list<const char*> names) {
  std::vector<query::FrameEntity> entities;
  for (const char* const name : names) {
    entities.push_back({name, std::to_string(entities.size()), "", query::CodeMode::kUnknown});
  }
  return entities;
}

}  // namespace

TEST_CASE("callstack rows: the rows, and their order, are those of sums by text") {
  // Names that make one text of different paths, and texts that end where another goes on.
  const auto entities = entities_called({"a", "b", "a;b", "a", "ab", "a b", "", "b;",
                                         "[no callstack]", "a-", "a\x7f", "\xc3\xa9", ";"});
  std::mt19937 random(7);
  app::CallstackRows rows;
  std::map<std::string, app::HotSpot> expected;
  for (StackId stack = 0; stack < 4000; ++stack) {
    std::vector<std::uint32_t> leaf_first(random() % 5);
    for (std::uint32_t& entity : leaf_first) {
      entity = static_cast<std::uint32_t>(random() % entities.size());
    }
    const std::uint64_t value = random() % 3;
    const bool has_number = random() % 4 != 0;
    rows.add(leaf_first, entities, value, has_number ? stack : kNoStack);
    const std::string text = text_of(leaf_first, entities);
    app::HotSpot& row = expected.try_emplace(text, app::HotSpot{text, "", "", 0, 0}).first->second;
    row.self += value;
    row.total += value;
    if (has_number) {
      row.stack = std::min(row.stack.value_or(stack), stack);
    }
  }
  std::vector<app::HotSpot> sorted;
  for (const auto& [text, row] : expected) {
    sorted.push_back(row);
  }
  app::sort_hot_spots(sorted, true);
  std::vector<app::HotSpot> all;
  CHECK(rows.list(0, all) == 0);
  CHECK(all == sorted);
  for (const std::size_t most :
       {std::size_t{1}, std::size_t{17}, sorted.size(), sorted.size() + 5}) {
    CAPTURE(most);
    std::vector<app::HotSpot> some;
    const std::size_t shown = std::min(most, sorted.size());
    CHECK(rows.list(most, some) == sorted.size() - shown);
    CHECK(some == std::vector(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(shown)));
  }
}
