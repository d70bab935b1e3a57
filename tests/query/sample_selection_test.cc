#include "query/selection/sample_selection.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <tuple>

#include <doctest/doctest.h>

#include "capture/module_map.h"
#include "export/hand_made_capture.h"
#include "support/spk_reading.h"

using namespace stackpack;
using query::SampleSelection;
using query::SelectedSample;
using test::HandMadeCapture;

namespace {

std::vector<SelectedSample> selected(SampleSelection& selection) {
  std::vector<SelectedSample> all;
  REQUIRE(selection
              .for_each([&](std::span<const SelectedSample> block) {
                all.insert(all.end(), block.begin(), block.end());
                return Status{};
              })
              .has_value());
  return all;
}

}  // namespace

TEST_CASE("selection: an exec and a reused pid make tracks, a mapping makes contexts") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.tables.processes.resize(2);
  capture.tables.processes[0].pid = 10;
  capture.tables.processes[0].name = "shell";
  capture.tables.processes[1].pid = 10;
  capture.tables.processes[1].name = "sleep";
  capture.tables.processes[1].start_ns = 300;
  capture.add_module(10, 0x1000, 0x100, "/lib", 200, 249);
  capture.add_module(kKernelPid, 0xf000, 0x100, "driver", 400);
  for (const std::uint64_t time : {100U, 200U, 249U, 250U, 300U, 399U, 400U}) {
    capture.add_sample(time, 10, 10, kNoStack);
  }
  const query::CaptureView view = capture.view();
  const ExportOptions options;
  auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  std::vector<std::uint32_t> tracks;
  std::vector<std::uint32_t> contexts;
  for (const SelectedSample& sample : selected(**selection)) {
    tracks.push_back(sample.track);
    contexts.push_back(sample.context);
  }
  CHECK(tracks == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1});
  CHECK(contexts == std::vector<std::uint32_t>{0, 1, 1, 2, 3, 3, 4});
  CHECK((*selection)->process_name((*selection)->tracks()[0]) == "shell");
  CHECK((*selection)->thread_name((*selection)->tracks()[1]) == "sleep");

  std::vector<std::uint32_t> again;
  for (const SelectedSample& sample : selected(**selection)) {
    again.push_back(sample.context);
  }
  CHECK(again == contexts);  // a second pass has the same numbers
  CHECK((*selection)->contexts().size() == 5);
}

namespace {

// What samples add up to by what they have in common, and in how many times.
using Sums = std::map<std::tuple<std::uint32_t, StackId, std::uint32_t, std::uint32_t>,
                      std::pair<std::uint64_t, std::uint64_t>>;

void add_to(Sums& sums, std::uint32_t event, StackId stack, std::uint32_t context,
            std::uint32_t track, std::uint64_t count, std::uint64_t weight) {
  auto& [samples, weights] = sums[{event, stack, context, track}];
  samples += count;
  weights = weights + weight < weights ? ~std::uint64_t{0} : weights + weight;
}

Sums sums_of(SampleSelection& selection, const query::SummedFields& fields, std::uint64_t& rows) {
  Sums sums;
  REQUIRE(selection
              .for_each_summed(fields,
                               [&](std::span<const query::SummedSample> block) {
                                 rows += block.size();
                                 for (const query::SummedSample& s : block) {
                                   add_to(sums, s.event, s.stack, s.context, s.track, s.count,
                                          s.weight);
                                 }
                                 return Status{};
                               })
              .has_value());
  return sums;
}

void same_tracks(const SampleSelection& some, const SampleSelection& others) {
  REQUIRE(some.tracks().size() == others.tracks().size());
  for (std::size_t i = 0; i < some.tracks().size(); ++i) {
    REQUIRE(some.tracks()[i].pid == others.tracks()[i].pid);
    REQUIRE(some.tracks()[i].tid == others.tracks()[i].tid);
    REQUIRE(some.tracks()[i].process == others.tracks()[i].process);
    REQUIRE(some.tracks()[i].thread == others.tracks()[i].thread);
  }
  REQUIRE(some.contexts().size() == others.contexts().size());
  for (std::size_t i = 0; i < some.contexts().size(); ++i) {
    REQUIRE(some.contexts()[i].pid == others.contexts()[i].pid);
  }
}

}  // namespace

TEST_CASE("selection: sums of many blocks are those of single samples, with the same numbers") {
  constexpr std::size_t kSamples = 5 * 65'536 + 100;
  test::SpkContent content = test::random_content(41, 60, kSamples);
  const std::uint64_t begin = content.samples.front().time_ns;
  const std::uint64_t span = content.samples.back().time_ns - begin;
  test::Random random(5);
  for (StoredSample& sample : content.samples) {
    sample.weight >>= 24;  // sums are exact as real numbers
  }
  // Blocks that are added up by the decoder: nothing but threads, callstacks and weights differ.
  for (const std::size_t block : {1U, 2U, 4U}) {
    for (std::size_t i = block * 65'536; i < (block + 1) * 65'536; ++i) {
      StoredSample& sample = content.samples[i];
      sample.event = 0;
      sample.origin = StackOrigin::kRecorded;
      sample.stack = sample.stack == kNoStack ? 7 : sample.stack;
      sample.flags = block == 2 && sample.tid % 3 == 0 ? kSampleIdle : 0;
      sample.weight = block == 4 ? 20 : sample.weight;
    }
  }
  for (std::uint32_t i = 0; i < 8; ++i) {  // processes that begin again, in three of the blocks
    Process process;
    process.pid = 14 + i % 4;
    process.start_ns = begin + random.below(span / 2);
    process.name = "p" + std::to_string(i % 3);
    content.tables.processes.push_back(process);
  }
  std::sort(content.tables.processes.begin(), content.tables.processes.end(),
            [](const Process& a, const Process& b) {
              return std::tuple(a.pid, a.start_ns) < std::tuple(b.pid, b.start_ns);
            });
  const std::vector<std::byte> file = test::spk_bytes(content);
  const auto reader = test::open_spk(file);
  const auto view = query::view_of(*reader);
  REQUIRE(view.has_value());
  std::vector<ExportOptions> all(5);
  all[1].filter.idle = IdleSamples::kLeaveOut;
  all[2].filter.comms = {"p1"};
  all[3].filter.cpu = 2;
  all[3].filter.from = CaptureTime{span / 3, true};
  all[4].filter.events = {"cpu-clock"};
  for (const ExportOptions& options : all) {
    for (const bool merged : {false, true}) {
      CAPTURE(&options - all.data());
      CAPTURE(merged);
      auto one_by_one = SampleSelection::create(*view, options);
      auto summed = SampleSelection::create(*view, options);
      REQUIRE((one_by_one.has_value() && summed.has_value()));
      Sums expected;
      const query::EventChoice& choice = (*one_by_one)->choice();
      for (const SelectedSample& sample : selected(**one_by_one)) {
        add_to(expected, choice.joined(sample.event), sample.stack, sample.context, sample.track, 1,
               sample.weight);
      }
      std::uint64_t rows = 0;
      CHECK(sums_of(**summed, {.merged = merged}, rows) == expected);
      std::uint64_t samples = 0;
      for (const auto& [key, sum] : expected) {
        samples += sum.first;
      }
      CHECK((merged ? rows < samples - samples / 10 : rows == samples));
      CHECK((*summed)->time_range().first_ns == (*one_by_one)->time_range().first_ns);
      CHECK((*summed)->time_range().last_ns == (*one_by_one)->time_range().last_ns);
      CHECK((*summed)->idle_left_out().samples == (*one_by_one)->idle_left_out().samples);
      CHECK((*summed)->idle_left_out().value == (*one_by_one)->idle_left_out().value);
      CHECK((*summed)->idle_left_out().whole == (*one_by_one)->idle_left_out().whole);
      same_tracks(**summed, **one_by_one);
    }
  }
}

TEST_CASE(
    "selection: of more threads than it keeps in mind each has its number, where it has any") {
  test::SpkContent content = test::random_content(43, 30, 4 * 65'536);
  for (std::size_t i = 0; i < content.samples.size(); ++i) {
    StoredSample& sample = content.samples[i];
    sample.pid = 14 + static_cast<std::uint32_t>(i % 2);
    // Most once, some again in every block.
    sample.tid = static_cast<std::uint32_t>(i % 5 == 0 ? i % 1000 : 1000 + i / 2);
    sample.weight >>= 24;
  }
  const std::vector<std::byte> file = test::spk_bytes(content);
  const auto reader = test::open_spk(file);
  const auto view = query::view_of(*reader);
  REQUIRE(view.has_value());
  const ExportOptions options;
  auto one_by_one = SampleSelection::create(*view, options);
  REQUIRE(one_by_one.has_value());
  const std::vector<SelectedSample> samples = selected(**one_by_one);
  CHECK((*one_by_one)->tracks().size() > 100'000);
  for (const bool by_track : {true, false}) {
    CAPTURE(by_track);
    Sums expected;
    for (const SelectedSample& sample : samples) {
      add_to(expected, sample.event, sample.stack, sample.context, by_track ? sample.track : 0, 1,
             sample.weight);
    }
    auto summed = SampleSelection::create(*view, options);
    REQUIRE(summed.has_value());
    std::uint64_t rows = 0;
    CHECK(sums_of(**summed, {.track = by_track, .merged = true}, rows) == expected);
    CHECK(rows != 0);
    if (by_track) {
      same_tracks(**summed, **one_by_one);
    } else {
      CHECK((*summed)->tracks().empty());
    }
  }
}

TEST_CASE("selection: samples become one within bounds of time alone, and of one weight") {
  const test::SpkContent content = test::random_content(42, 30, 2 * 65'536);
  const std::vector<std::byte> file = test::spk_bytes(content);
  const auto reader = test::open_spk(file);
  const auto view = query::view_of(*reader);
  REQUIRE(view.has_value());
  const std::array<std::uint64_t, 2> bounds = {content.samples[1000].time_ns,
                                               content.samples[65'536].time_ns};
  const ExportOptions options;
  auto selection = SampleSelection::create(*view, options);
  REQUIRE(selection.has_value());
  const query::SummedFields fields{
      .by_time = false, .merged = true, .equal_weights = true, .bounds = bounds};
  std::array<std::uint64_t, 3> counts{};
  bool merges = false;
  REQUIRE((*selection)
              ->for_each_summed(fields,
                                [&](std::span<const query::SummedSample> block) {
                                  for (const query::SummedSample& s : block) {
                                    const auto stretch =
                                        std::upper_bound(bounds.begin(), bounds.end(), s.time_ns) -
                                        bounds.begin();
                                    counts[static_cast<std::size_t>(stretch)] += s.count;
                                    merges = merges || s.count > 1;
                                    REQUIRE(s.weight % s.count == 0);
                                    REQUIRE((s.count == 1 || s.weight == s.count * 250'000));
                                  }
                                  return Status{};
                                })
              .has_value());
  CHECK(merges);
  std::array<std::uint64_t, 3> expected{};
  for (const StoredSample& sample : content.samples) {
    const auto stretch =
        std::upper_bound(bounds.begin(), bounds.end(), sample.time_ns) - bounds.begin();
    expected[static_cast<std::size_t>(stretch)] +=
        (*selection)->choice().wants(sample.event) ? 1U : 0U;
  }
  CHECK(counts == expected);
}

TEST_CASE("selection: every context names frames as each of its samples would") {
  // Maps and unmaps at random; the context's time must give what the sample's own time gives.
  for (const unsigned seed : {11U, 12U, 13U}) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    HandMadeCapture capture;
    capture.tables.events = {{"cycles", true}};
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t start = random() % 1000;
      const std::uint32_t pid =
          random() % 4 == 0 ? kKernelPid : static_cast<std::uint32_t>(1 + random() % 3);
      capture.add_module(pid, (random() % 8) * 0x100, 0x180, "/m" + std::to_string(i),
                         random() % 5 == 0 ? kUnknownTime : start,
                         random() % 3 == 0 ? kUnknownTime : start + random() % 300);
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      Process process;
      process.pid = 1 + i % 3;
      process.parent_pid = 1 + (i + 1) % 3;
      process.start_ns = i < 3 ? kUnknownTime : random() % 1000;
      process.inherits_mappings = random() % 2 == 0;
      capture.tables.processes.push_back(process);
    }
    for (std::uint64_t time = 0; time < 1400; ++time) {
      const auto pid = static_cast<std::uint32_t>(1 + random() % 3);
      capture.add_sample(time, pid, pid, kNoStack);
    }
    const query::CaptureView view = capture.view();
    const capture::ModuleMap map(view.processes, view.modules);
    const ExportOptions options;
    auto selection = SampleSelection::create(view, options);
    REQUIRE(selection.has_value());
    for (const SelectedSample& sample : selected(**selection)) {
      const query::MappingContext context = (*selection)->contexts()[sample.context];
      REQUIRE(context.pid == sample.pid);
      for (std::uint64_t address = 0; address < 0x900; address += 0x80) {
        for (const FrameMode mode : {FrameMode::kUser, FrameMode::kKernel, FrameMode::kUnknown}) {
          const auto own = map.find(sample.pid, sample.time_ns, {mode, address});
          const auto shared = map.find(context.pid, context.time_ns, {mode, address});
          REQUIRE(own.has_value() == shared.has_value());
          CHECK((!own || own->module == shared->module));
        }
      }
    }
  }
}

TEST_CASE("selection: sums are of the same samples, with what was asked for") {
  HandMadeCapture capture = test::small_capture();
  capture.add_module(10, 0x5000, 0x1000, "/lib/late.so", 3200);  // another context from here on
  const query::CaptureView view = capture.view();
  for (const bool one_module : {false, true}) {
    CAPTURE(one_module);
    ExportOptions options;
    options.all_events = true;
    if (one_module) {
      options.filter.modules = {"libc.so.6"};
    }
    for (const query::SummedFields fields :
         {query::SummedFields{}, query::SummedFields{false, true, true},
          query::SummedFields{true, false, true}, query::SummedFields{false, false, false}}) {
      auto whole = SampleSelection::create(view, options);
      auto summed = SampleSelection::create(view, options);
      REQUIRE(whole.has_value());
      REQUIRE(summed.has_value());
      const std::vector<SelectedSample> samples = selected(**whole);
      std::size_t at = 0;
      const auto compare = [&](std::span<const query::SummedSample> block) {
        for (const query::SummedSample& sum : block) {
          REQUIRE(at < samples.size());
          const SelectedSample& sample = samples[at++];
          CHECK(sum.time_ns == sample.time_ns);
          CHECK(sum.count == sample.count);
          CHECK(sum.event == sample.event);
          CHECK(sum.track == sample.track);
          CHECK(sum.context == sample.context);
          CHECK(sum.weight == (fields.weight ? sample.weight : 0));
          if (fields.stack) {
            CHECK(sum.stack == sample.stack);
          }
        }
        return Status{};
      };
      REQUIRE((*summed)->for_each_summed(fields, compare));
      CHECK(at == samples.size());
      CHECK(samples.size() == (one_module ? 5 : 9));
      CHECK((*summed)->tracks().size() == (*whole)->tracks().size());
      CHECK((*summed)->time_range().last_ns == (*whole)->time_range().last_ns);
    }
  }
}

TEST_CASE("selection: an error of the visitor ends the pass") {
  const HandMadeCapture capture = test::small_capture();
  const query::CaptureView view = capture.view();
  const ExportOptions options;
  auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  const Status status = (*selection)->for_each([](std::span<const SelectedSample>) {
    return Status{Error{ErrorCode::kIo, kNoOffset, "full"}};
  });
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().what == "full");
}

TEST_CASE("selection: wall-clock times need a number in the metadata") {
  HandMadeCapture capture = test::small_capture();
  for (const char* text : {"1700000000000000000", "-500", "", "12x"}) {
    CAPTURE(text);
    capture.tables.metadata = {{"clock.wall_offset_ns", text}};
    const query::CaptureView view = capture.view();
    const ExportOptions options;
    auto selection = SampleSelection::create(view, options);
    REQUIRE(selection.has_value());
    const auto wall = (*selection)->wall_ns(1000);
    if (std::string(text) == "1700000000000000000") {
      CHECK(wall == 1'700'000'000'000'001'000U);
    } else if (std::string(text) == "-500") {
      CHECK(wall == 500U);
    } else {
      CHECK_FALSE(wall.has_value());
    }
  }
}

TEST_CASE("capture view: without the samples processes and modules have no times") {
  test::SpkContent content = test::random_content(1, 5, 50);
  content.tables.processes = {{7, 1, 10, 40, false, "program", ""}};
  Module module;
  module.pid = 7;
  module.base = 0x1000;
  module.size = 0x1000;
  module.path = "/lib";
  module.start_ns = 20;
  module.end_ns = 30;
  content.tables.modules = {module};
  for (const bool samples : {true, false}) {
    CAPTURE(samples);
    spk::WriterOptions options;
    options.samples = samples;
    const std::vector<std::byte> file = test::spk_bytes(content, options);
    const auto reader = test::open_spk(file);
    const auto view = query::view_of(*reader);
    REQUIRE(view.has_value());
    REQUIRE(view->processes.size() == 1);
    CHECK(view->processes[0].start_ns == (samples ? 10 : kUnknownTime));
    CHECK(view->processes[0].end_ns == (samples ? 40 : kUnknownTime));
    REQUIRE(view->modules.size() == 1);
    CHECK(view->modules[0].start_ns == (samples ? 20 : kUnknownTime));
    CHECK(view->modules[0].end_ns == (samples ? 30 : kUnknownTime));
  }
}
