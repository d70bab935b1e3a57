#include "cli/batch_progress.h"

#include <doctest/doctest.h>

#include "support/source_folder.h"

namespace stackpack::cli {

TEST_CASE("progress: every stage of a conversion is named, and reading is not the whole of it") {
  app::BatchRunning running;
  running.seconds = 2;
  running.bytes_done = 50'000'000;
  running.bytes_total = 100'000'000;
  running.samples = 200;
  CHECK(progress_text(running) == "reading  50%   25 MB/s, 2.00 s left to read");
  running.bytes_done = running.bytes_total;
  CHECK(progress_text(running) == "reading 100%   50 MB/s");
  running.bytes_total = 0;
  CHECK(progress_text(running) == "reading    50 MB/s");
  running.stage = ConvertStage::kCallstacks;
  CHECK(progress_text(running) == "writing callstacks");
  running.stage = ConvertStage::kSamples;
  running.samples_written = 60;
  CHECK(progress_text(running) == "writing samples  30%");
  running.stage = ConvertStage::kFinishing;
  CHECK(progress_text(running) == "finishing");
}

TEST_CASE("progress: a conversion goes through its stages and counts what it writes") {
  // The last stage and count stay to be seen.
  ConvertProgress progress;
  const auto report = convert(test::source_folder() + "/testdata/file.perf.data", "/dev/null",
                              ConvertOptions{}, &progress);
  REQUIRE(report.has_value());
  CHECK(progress.stage == ConvertStage::kFinishing);
  CHECK(progress.samples > 0);
  CHECK(progress.samples_written == progress.samples);
}

}  // namespace stackpack::cli
