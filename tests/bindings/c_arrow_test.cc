#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/c_api.h"
#include "support/arrow_reading.h"
#include "support/source_folder.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

TEST_SUITE("c arrow") {
  TEST_CASE("c arrow: a stream outlives its reader") {
    const SpkContent content = random_content(71, 50, 500);
    const std::vector<std::byte> file = spk_bytes(content);
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    const std::array<const char*, 2> columns{"event", "time_ns"};
    stackpack_stream_options options{};
    OwnedStream out;
    CHECK(stackpack_stream_table(reader, STACKPACK_TABLE_SAMPLES, &options, &out.stream) ==
          STACKPACK_USAGE);  // struct_size is not set
    options.struct_size = sizeof options;
    options.columns = columns.data();
    options.column_count = columns.size();
    options.batch_rows = 64;
    options.to_ns = content.samples[299].time_ns;
    REQUIRE(stackpack_stream_table(reader, STACKPACK_TABLE_SAMPLES, &options, &out.stream) ==
            STACKPACK_OK);
    CHECK(stackpack_stream_table(reader, 99, nullptr, &out.stream) == STACKPACK_USAGE);
    stackpack_close(reader);
    const ArrowContent samples = read_arrow(out.stream);
    CHECK(samples.names == std::vector<std::string>{"event", "time_ns"});
    CHECK(samples.rows() >= 300);
    CHECK(samples.rows() < 320);
    CHECK(samples.batches.front() == 64);
    CHECK(std::string(stackpack_table_name(STACKPACK_TABLE_TOP)) == "top");
    CHECK(stackpack_table_name(99) == nullptr);
  }

  TEST_CASE("c arrow: a conversion that is cancelled leaves nothing") {
    const ScratchDirectory folder;
    const std::string input = folder.file("a.folded");
    std::ofstream(input) << "main;work 3\nmain 1\n";
    const std::string output = folder.file("a.spk");
    stackpack_progress* const progress = stackpack_new_progress();
    REQUIRE(progress != nullptr);
    stackpack_convert_options options{};
    options.struct_size = sizeof options;
    options.progress = progress;
    stackpack_cancel(progress);
    CHECK(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) ==
          STACKPACK_CANCELLED);
    CHECK(!std::filesystem::exists(output));
    stackpack_free_progress(progress);

    options.progress = nullptr;
    stackpack_convert_report report{};
    report.struct_size = sizeof report;
    REQUIRE(stackpack_convert(input.c_str(), output.c_str(), &options, &report) == STACKPACK_OK);
    CHECK(report.samples == 2);
    CHECK(report.output_bytes == std::filesystem::file_size(output));
    const std::string capture = source_folder() + "/testdata/file.perf.data";
    REQUIRE(stackpack_convert(capture.c_str(), output.c_str(), &options, &report) == STACKPACK_OK);
    const std::uint64_t exact_bytes = report.output_bytes;
    options.time_resolution_ns = 1'000'000;
    REQUIRE(stackpack_convert(capture.c_str(), output.c_str(), &options, &report) == STACKPACK_OK);
    CHECK(report.output_bytes < exact_bytes);
    CHECK(stackpack_convert(folder.file("none").c_str(), output.c_str(), nullptr, nullptr) ==
          STACKPACK_NOT_FOUND);
  }
}

}  // namespace
}  // namespace stackpack::test
