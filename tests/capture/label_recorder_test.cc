// Sets of labels, however many: each once, in the order of their bytes, whatever order they came
// in.
#include "capture/label_recorder.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/byte_text.h"
#include "bytes/label_bytes.h"
#include "support/random_stacks.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

Label text_label(const std::string& key, const std::string& value) {
  return {key, LabelType::kText, value, 0, {}};
}

LabelSet random_set(Random& random) {
  LabelSet set{text_label("route", "/" + std::to_string(random.below(5)))};
  if (random.below(3) == 0) {
    set.push_back({"size", LabelType::kInteger, {}, random.below(40), "bytes"});
  }
  if (random.below(2) == 0) {
    set.push_back(text_label("route", "/again"));
  }
  return set;
}

std::vector<std::string> sets_of(capture::LabelRecorder& recorder) {
  std::vector<std::string> sets;
  REQUIRE(recorder.visit([&sets](std::string_view set) {
    sets.emplace_back(set);
    return Status{};
  }));
  return sets;
}

// Against std::map: `most_sets` in memory.
void check_against_map(std::size_t most_sets) {
  CAPTURE(most_sets);
  const ScratchDirectory folder;
  capture::LabelRecorder recorder(most_sets);
  recorder.configure(folder.file("."));
  Random random(7);
  std::map<std::uint64_t, std::string> given;  // by number
  std::set<std::string> used;
  std::set<std::uint64_t> used_numbers;  // a set that comes again in another run has another one
  for (int i = 0; i < 2000; ++i) {
    LabelSet set = random_set(random);
    LabelSet again = set;
    std::string bytes;
    bytes::write_labels(again, bytes);
    const std::uint64_t number = recorder.number_of(set);
    CHECK(set == again);
    given[number] = bytes;
    if (i % 3 == 0) {
      recorder.use(number);
      used.insert(bytes);
      used_numbers.insert(number);
    }
  }
  REQUIRE(recorder.settle());
  const std::vector<std::string> sets = sets_of(recorder);
  CHECK(std::vector<std::string>(used.begin(), used.end()) == sets);
  for (const auto& [number, bytes] : given) {
    if (const auto place = recorder.place_of(number); place) {
      CHECK(sets[static_cast<std::size_t>(*place)] == bytes);
    } else {
      CHECK_FALSE(used_numbers.contains(number));
    }
  }
}

}  // namespace

TEST_CASE("label recorder: sets are found again, in memory and in runs on disk") {
  for (const std::size_t most_sets : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    check_against_map(most_sets);
  }
}

TEST_CASE("label recorder: redaction keeps keys") {
  capture::LabelRecorder recorder;
  recorder.set_redaction(true);
  LabelSet set{text_label("user", "ada"), {"id", LabelType::kInteger, {}, 7, "units"}};
  recorder.use(recorder.number_of(set));
  REQUIRE(recorder.settle());
  const std::vector<std::string> sets = sets_of(recorder);
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].find("user") != std::string::npos);
  CHECK(sets[0].find("ada") == std::string::npos);
  CHECK(set == LabelSet{text_label("id", "[redacted]"), text_label("user", "[redacted]")});
}

TEST_CASE("label bytes: every label comes back, and nothing else is read") {
  LabelSet set{text_label("a", ""),
               text_label("a", "b"),
               {"n", LabelType::kInteger, {}, static_cast<std::uint64_t>(-5), "ms"},
               {"r", LabelType::kReal, {}, 0x3FF8'0000'0000'0000, {}},
               {"t", LabelType::kBool, {}, 1, {}},
               text_label("a", "b")};
  std::string bytes;
  CHECK(bytes::write_labels(set, bytes) == 0);
  CHECK(set.size() == 5);
  LabelSet read;
  const auto cursor = [](std::string_view text) {
    return bytes::ByteCursor(std::as_bytes(std::span(text)), 0);
  };
  REQUIRE(bytes::read_labels(cursor(bytes), read));
  CHECK(read == set);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    LabelSet part;
    const bool whole = bytes::read_labels(cursor(std::string_view(bytes).substr(0, size)), part);
    CHECK((!whole ||
           (part.size() < set.size() && std::equal(part.begin(), part.end(), set.begin()))));
  }
  // Out of order, and twice.
  std::string two;
  LabelSet later{text_label("b", "")};
  bytes::write_labels(later, two);
  CHECK_FALSE(bytes::read_labels(cursor(two + bytes.substr(0, 4)), read));
  CHECK_FALSE(bytes::read_labels(cursor(two + two), read));
}

TEST_CASE("label bytes: what is too long or too many is cut, and counted") {
  LabelSet set;
  for (int i = 0; i < 200; ++i) {
    set.push_back(text_label("key" + std::to_string(i), std::string(i == 0 ? 5000 : 1, 'x')));
  }
  std::string bytes;
  CHECK(bytes::write_labels(set, bytes) == 1 + 200 - bytes::kMaxLabels);
  LabelSet read;
  CHECK(bytes::read_labels(bytes::ByteCursor(std::as_bytes(std::span(bytes)), 0), read));
  CHECK(read == set);
}

}  // namespace stackpack::test
