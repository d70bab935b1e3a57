#include "query/selection/cut_notices.h"

#include <doctest/doctest.h>

#include "capture/wait_rules.h"
#include "formats/jfr/jfr_losses.h"
#include "formats/nettrace/nettrace_losses.h"
#include "formats/otlp/otlp_losses.h"
#include "formats/perf/perf_losses.h"
#include "formats/pprof/pprof_losses.h"
#include "formats/speedscope/speedscope_losses.h"
#include "query/selection/wait_events.h"
#include "stackpack/result.h"
#include "support/spk_reading.h"

namespace stackpack::query {

TEST_SUITE_BEGIN("query.cut_notices");

TEST_CASE("nothing is said of a capture that is whole") {
  Statistics whole;
  whole.samples.total = 100;
  whole.losses = {{"recorder_lost_events", LossKind::kRecorder, 0, kNoOffset},
                  {"records_not_kept.stat", LossKind::kNotice, 7, kNoOffset}};
  CHECK(cut_notices(whole).empty());
}

TEST_CASE("damage, losses and callstacks without their root are a line each") {
  Statistics cut;
  cut.samples.total = 1000;
  cut.losses = {{"record_cut", LossKind::kDamage, 1, 300},
                {"data_section_cut", LossKind::kDamage, 2, kNoOffset},
                {"recorder_lost_samples", LossKind::kRecorder, 41, kNoOffset},
                {"unwind_no_table", LossKind::kNotice, 100, kNoOffset},
                {"unwind_dump_cut", LossKind::kNotice, 23, kNoOffset}};
  CHECK(cut_notices(cut) ==
        std::vector<std::string>{
            "the capture is truncated or damaged, so that samples may be missing (record cut: 1, "
            "data section cut: 2)",
            "samples are missing that were lost while recording (recorder lost samples: 41)",
            "the callstacks of 12.3 % of the samples do not reach their root (123 of 1000)"});
}

TEST_CASE("the share of callstacks without their root is that of the samples that are shown") {
  test::SpkContent content;
  content.stacks = {{{FrameMode::kUser, 0x10}}, {{FrameMode::kUser, 0x20}}};
  content.events = {{"cpu-clock", true}, {"page-faults", true}};
  content.losses = {{"unwind_no_table", LossKind::kNotice, 3, kNoOffset}};
  for (std::uint32_t i = 0; i < 10; ++i) {
    StoredSample& sample = content.samples.emplace_back();
    sample.time_ns = i;
    sample.pid = sample.tid = 7 + i / 8;  // the last two are of another process
    sample.event = i < 4 ? 0 : 1;
    sample.stack = i % 2;
    sample.origin = StackOrigin::kUnwound;
    sample.weight = 1;
    sample.flags = i == 1 || i > 7 ? kSampleIncomplete : 0;
  }
  const std::vector<std::byte> file = test::spk_bytes(content);
  const auto reader = test::open_spk(file);
  const auto shares = [&reader](const ExportOptions& options) {
    return cut_notices(*reader, options);
  };
  const auto share = [](const std::string& percent, const std::string& of) {
    return std::vector<std::string>{"the callstacks of " + percent +
                                    " % of the samples do not reach their root (" + of + ")"};
  };
  CHECK(cut_notices(*reader) == share("30.0", "3 of 10"));
  ExportOptions options;
  CHECK(shares(options) == share("25.0", "1 of 4"));  // of the event that is shown
  options.filter.events = {"page-faults"};
  CHECK(shares(options) == share("33.3", "2 of 6"));
  options.filter.pid = 7;
  CHECK(shares(options).empty());
  options.filter.pid = 8;
  CHECK(shares(options) == share("100.0", "2 of 2"));
  options = {};
  options.all_events = true;
  options.filter.to = CaptureTime{7};
  CHECK(shares(options) == share("12.5", "1 of 8"));

  options.filter = {};
  const auto view = view_for(*reader, options.filter);
  REQUIRE(view.has_value());
  const auto selection = SampleSelection::create(*view, options);
  REQUIRE(selection.has_value());
  const auto of_second = cut_stacks_of(*reader, **selection, {false, true, false});
  REQUIRE(of_second.has_value());
  CHECK(of_second->samples == 5);
  CHECK(of_second->cut == 2);
}

TEST_CASE("every format's counter of cut callstacks counts, and no more than there are samples") {
  for (const std::string_view name :
       {jfr::loss::kTruncatedStacks, nettrace::loss::kStacksCutByRuntime,
        perf::loss::kDeferredUnmatched}) {
    CAPTURE(name);
    Statistics cut;
    cut.samples.total = 10;
    cut.losses = {{std::string(name), LossKind::kRecorder, 25, kNoOffset}};
    CHECK(cut_notices(cut) ==
          std::vector<std::string>{
              "the callstacks of 100.0 % of the samples do not reach their root (10 of 10)"});
  }
  Statistics dumps;
  dumps.samples.total = 8;
  dumps.samples.stack_dump_only = 2;
  CHECK(cut_notices(dumps).size() == 1);
}

TEST_CASE("values below zero are no damage") {
  Statistics difference;
  difference.losses = {{std::string(pprof::loss::kNegativeValue), LossKind::kDamage, 3, 7},
                       {std::string(otlp::loss::kNegativeValue), LossKind::kDamage, 2, 7},
                       {std::string(speedscope::loss::kNegativeWeight), LossKind::kDamage, 1, 7}};
  CHECK(cut_notices(difference) ==
        std::vector<std::string>{
            "values below zero are left out, which the difference of two profiles has (6); "
            "stackpack diff compares two captures"});
}

TEST_CASE("that switches were sampled is said") {
  Statistics sampled;
  sampled.losses = {{std::string(capture::kSampledSwitchEvents), LossKind::kNotice, 1, kNoOffset}};
  CHECK(cut_notices(sampled) ==
        std::vector<std::string>{"switches of threads were sampled, not all recorded, so that most "
                                 "of the threads' time is unknown"});
}

TEST_SUITE_END();

}  // namespace stackpack::query
