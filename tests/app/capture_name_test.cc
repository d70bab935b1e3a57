#include "app/batch/capture_name.h"

#include <doctest/doctest.h>

namespace stackpack::app {

TEST_CASE("capture names: what claims to be a capture by its name") {
  for (const std::string_view name :
       {"perf.data", "perf.data.old", "perf.data.1", "x.perf.data", "x.PERF.DATA", "x.etl", "X.ETL",
        "x.etl.zip", "x.diagsession", "x.perf.data.gz", "x.perf.data.zst", "x.etl.xz"}) {
    CAPTURE(name);
    CHECK(is_capture_name(name));
  }
  for (const std::string_view name :
       {"", "x.data", "x.perf.data.spk", "x.perf.data.txt", "notes.txt", "etl", "x.etl.txt",
        "x.zip", "x.gz", "xperf.data", "x.etlx"}) {
    CAPTURE(name);
    CHECK_FALSE(is_capture_name(name));
  }
}

}  // namespace stackpack::app
