// Which samples an export takes: names, processors, images, times, and the event when none is
// named.
#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "query/name_pattern.h"

using namespace stackpack;
using query::SampleSelection;
using test::HandMadeCapture;

namespace {

using Times = std::vector<std::uint64_t>;

// Times of the samples that pass; small_capture has each time once.
Times times_of(const HandMadeCapture& capture, const SampleFilter& filter) {
  const query::CaptureView view = capture.view();
  ExportOptions options;
  options.filter = filter;
  options.all_events = true;
  auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  Times times;
  REQUIRE((*selection)
              ->for_each([&](std::span<const query::SelectedSample> block) {
                for (const query::SelectedSample& sample : block) {
                  times.push_back(sample.time_ns);
                }
                return Status{};
              })
              .has_value());
  return times;
}

}  // namespace

TEST_CASE("patterns: stars and question marks, and brackets are letters") {
  struct Case {
    const char* name;
    const char* pattern;
    bool fits;
  };
  for (const Case& c : std::vector<Case>{{"node", "node", true},
                                         {"node", "nod", false},
                                         {"node", "n*", true},
                                         {"node", "*e", true},
                                         {"node", "n?de", true},
                                         {"node", "n?e", false},
                                         {"", "", true},
                                         {"", "*", true},
                                         {"", "?", false},
                                         {"abcbcd", "a*bcd", true},
                                         {"abcbce", "a*bcd", false},
                                         {"[vdso]", "[vdso]", true},
                                         {"v", "[vdso]", false},
                                         {"a*b", "a*b", true},
                                         {"aaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*c", false},
                                         {"sched:sched_switch", "sched:*", true}}) {
    CAPTURE(c.name);
    CAPTURE(c.pattern);
    CHECK(query::fits_pattern(c.name, c.pattern) == c.fits);
  }
}

namespace {

// By the definition, one character after the other.
bool fits_by_definition(std::string_view name, std::string_view pattern) {
  std::vector<bool> fits(name.size() + 1, false);  // of the pattern so far: which beginnings
  fits[0] = true;
  for (const char wanted : pattern) {
    std::vector<bool> next(name.size() + 1, false);
    for (std::size_t at = 0; at <= name.size(); ++at) {
      next[at] = wanted == '*'
                     ? fits[at] || (at > 0 && next[at - 1])
                     : at > 0 && fits[at - 1] && (wanted == '?' || wanted == name[at - 1]);
    }
    fits = next;
  }
  return fits[name.size()];
}

}  // namespace

TEST_CASE("patterns: fit as their definition says, with pieces of any length") {
  std::mt19937 random(20261128);
  const auto text = [&](std::size_t most, std::string_view letters) {
    std::string made(random() % (most + 1), ' ');
    std::generate(made.begin(), made.end(), [&] { return letters[random() % letters.size()]; });
    return made;
  };
  int fitting = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string piece = text(round % 4 == 0 ? 150 : 4, "aab?");
    const std::string pattern = text(3, "ab*?") + "*" + piece + text(4, "ab*?");
    std::string filled = piece;
    std::replace(filled.begin(), filled.end(), '?', 'b');
    const std::string name = text(4, "ab") + (round % 2 == 0 ? filled : "") + text(4, "ab");
    CAPTURE(pattern);
    CAPTURE(name);
    const bool fits = fits_by_definition(name, pattern);
    CHECK(query::fits_pattern(name, pattern) == fits);
    fitting += fits ? 1 : 0;
  }
  CHECK(fitting > 400);
}

TEST_CASE("patterns: a name is read once, whatever is between two stars") {
  const std::string name(1 << 20, 'a');
  const std::string piece(20'000, 'a');
  CHECK_FALSE(query::fits_pattern(name, "*" + piece + "b*"));
  CHECK_FALSE(query::fits_pattern(name, "*" + piece + "?b*"));
  CHECK(query::fits_pattern(name, "*?" + piece + "*" + piece + "*"));
}

TEST_CASE("filters: each condition keeps the samples that it names") {
  HandMadeCapture capture = test::small_capture();
  capture.samples[1].cpu = 3;
  capture.samples[2].flags = kSampleIdle;
  struct Case {
    const char* name;
    SampleFilter filter;
    Times times;
  };
  std::vector<Case> cases(15);
  cases[0] = {"nothing asked", {}, {1000, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 90'000}};
  cases[1] = {"processor", {}, {2000}};
  cases[1].filter.cpu = 3;
  cases[2] = {"not idle", {}, {1000, 2000, 3000, 3500, 4000, 4500, 5000, 90'000}};
  cases[2].filter.idle = IdleSamples::kLeaveOut;
  // 3000 is of thread `worker` in process `alpha`.
  cases[3] = {"name of the process", {}, {1000, 2000, 3000, 4000, 4500, 90'000}};
  cases[3].filter.comms = {"alpha"};
  cases[4] = {"name of the thread", {}, {3000}};
  cases[4].filter.comms = {"work*"};
  cases[5] = {"two names", {}, {2500, 3000, 3500, 5000}};
  cases[5].filter.comms = {"beta", "worker"};
  cases[6] = {"without a name", {}, {2500, 3500, 5000}};
  cases[6].filter.excluded_comms = {"a*"};
  cases[7] = {"an image by its file name", {}, {4000, 4500}};
  cases[7].filter.modules = {"[kernel*"};
  cases[8] = {"an image by its path", {}, {2000, 3000, 3500, 4000, 4500}};
  cases[8].filter.modules = {"/lib/*"};
  cases[9] = {"without an image", {}, {1000, 2500, 5000, 90'000}};
  cases[9].filter.excluded_modules = {"libc.so.?"};
  cases[10] = {"one image without another", {}, {1000, 90'000}};
  cases[10].filter.modules = {"alpha"};
  cases[10].filter.excluded_modules = {"libc*"};
  cases[11] = {"events by pattern", {}, {4500}};
  cases[11].filter.events = {"sched:*"};
  cases[12] = {"without an event", {}, {4500}};
  cases[12].filter.excluded_events = {"cycles"};
  cases[13] = {"from the start on, both ends included", {}, {2000, 2500}};
  cases[13].filter.from = CaptureTime{1000, true};
  cases[13].filter.to = CaptureTime{1500, true};
  cases[14] = {"the clock's times", {}, {2500, 3000}};
  cases[14].filter.from = CaptureTime{2001, false};
  cases[14].filter.to = CaptureTime{3000, false};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(times_of(capture, c.filter) == c.times);
  }
}

TEST_CASE("filters: a distance beyond the end of the clock selects nothing, not all") {
  SampleFilter filter;
  filter.from = CaptureTime{~std::uint64_t{0} - 10, true};
  CHECK(times_of(test::small_capture(), filter).empty());
  filter.from.reset();
  filter.to = CaptureTime{~std::uint64_t{0} - 10, true};
  CHECK(times_of(test::small_capture(), filter).size() == 9);
}

TEST_CASE("filters: the caller before an image's end is in that image") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_module(10, 0x1000, 0x1000, "/first");
  capture.add_module(10, 0x2000, 0x1000, "/second");
  capture.add_sample(1, 10, 10, capture.add_stack({test::user(0x2800), test::user(0x2000)}));
  SampleFilter filter;
  filter.modules = {"first"};
  CHECK(times_of(capture, filter) == Times{1});
}

TEST_CASE("filters: what nobody can meet is a usage error") {
  const auto refused = [](const HandMadeCapture& capture, const SampleFilter& filter) {
    const query::CaptureView view = capture.view();
    ExportOptions options;
    options.filter = filter;
    const auto selection = SampleSelection::create(view, options);
    return !selection && selection.error().code == ErrorCode::kUsage;
  };
  SampleFilter one_unknown;
  one_unknown.events = {"cycles", "cycle"};
  CHECK(refused(test::small_capture(), one_unknown));
  SampleFilter nothing_left;
  nothing_left.excluded_events = {"*"};
  CHECK(refused(test::small_capture(), nothing_left));
  HandMadeCapture counts = test::small_capture();
  counts.tables.has_samples = false;
  SampleFilter idle;
  idle.idle = IdleSamples::kLeaveOut;
  CHECK(refused(counts, idle));
  SampleFilter cpu;
  cpu.cpu = 1;
  CHECK(refused(counts, cpu));
  CHECK_FALSE(refused(counts, {}));
}

TEST_CASE("events: a view of one event takes the one that samples time, and names the others") {
  struct Case {
    std::vector<Event> events;
    std::vector<std::uint64_t> samples;
    std::string chosen;
    std::size_t others;
  };
  for (const Case& c : std::vector<Case>{
           {{{"page-faults", true}, {"cpu-clock:u", true}, {"instructions", true}},
            {},
            "cpu-clock:u",
            2},
           {{{"context-switches", true}, {"cpu_core/cycles/P", true}}, {}, "cpu_core/cycles/P", 1},
           {{{"a/b", true}, {"instructions:u", true}}, {}, "instructions:u", 1},
           {{{"sched:sched_switch", false}, {"page-faults", true}}, {}, "page-faults", 1},
           {{{"Thread/CSwitch", false}, {"PerfInfo/SampledProfile", true}},
            {},
            "PerfInfo/SampledProfile",
            1},
           {{{"page-faults", true}, {"cycles", true}}, {7, 0}, "page-faults", 0},
           {{{"cycles", true}}, {}, "cycles", 0}}) {
    CAPTURE(c.chosen);
    HandMadeCapture capture;
    capture.tables.events = c.events;
    capture.tables.event_samples = c.samples;
    const query::CaptureView view = capture.view();
    const ExportOptions options;
    const auto selection = SampleSelection::create(view, options);
    REQUIRE(selection.has_value());
    const query::EventChoice& choice = (*selection)->choice();
    CHECK(choice.name_of(choice.main_event()) == c.chosen);
    CHECK(choice.wants(choice.main_event()));
    CHECK(choice.left_out().size() == c.others);
  }
}
