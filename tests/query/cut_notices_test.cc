#include "query/selection/cut_notices.h"

#include <doctest/doctest.h>

#include "capture/wait_rules.h"
#include "formats/jfr/jfr_losses.h"
#include "formats/nettrace/nettrace_losses.h"
#include "formats/otlp/otlp_losses.h"
#include "formats/perf/perf_losses.h"
#include "formats/pprof/pprof_losses.h"
#include "formats/speedscope/speedscope_losses.h"
#include "stackpack/result.h"

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
