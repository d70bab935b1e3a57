#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
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

  TEST_CASE("c arrow: a last time of zero is a bound when it is said to be one") {
    const std::vector<std::byte> file = spk_bytes(random_content(72, 50, 500));
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    for (const bool ends : {false, true}) {
      stackpack_stream_options options{};
      options.struct_size = sizeof options;
      options.ends = ends ? 1 : 0;
      OwnedStream out;
      REQUIRE(stackpack_stream_table(reader, STACKPACK_TABLE_SAMPLES, &options, &out.stream) ==
              STACKPACK_OK);
      CHECK(read_arrow(out.stream).rows() == (ends ? 0 : 500));
    }
    stackpack_close(reader);
  }

  TEST_CASE("c arrow: the events of a capture are a stream of its own") {
    const std::string capture = source_folder() + "/testdata/small.nettrace";
    const std::array<const char*, 1> columns{"name"};
    stackpack_stream_options options{};
    options.struct_size = sizeof options;
    options.columns = columns.data();
    options.column_count = columns.size();
    std::size_t all = 0;
    for (const char* providers :
         {static_cast<const char*>(nullptr), "Microsoft-DotNETCore-*", "?"}) {
      OwnedStream out;
      REQUIRE(stackpack_stream_provider_events(capture.c_str(), providers, &options, &out.stream) ==
              STACKPACK_OK);
      const ArrowContent events = read_arrow(out.stream);
      CHECK(events.names == std::vector<std::string>{"name"});
      all = providers == nullptr ? events.rows() : all;
      CHECK((events.rows() == all) == (providers == nullptr));
      CHECK((events.rows() == 0) == (providers != nullptr && providers[0] == '?'));
    }
    ArrowArrayStream stream{};
    CHECK(stackpack_stream_provider_events(nullptr, nullptr, &options, &stream) == STACKPACK_USAGE);
    options.struct_size = 0;
    CHECK(stackpack_stream_provider_events(capture.c_str(), nullptr, &options, &stream) ==
          STACKPACK_USAGE);
    CHECK(stackpack_stream_provider_events("/nowhere/a.etl", nullptr, nullptr, &stream) ==
          STACKPACK_NOT_FOUND);
  }

  TEST_CASE("c arrow: a capsule that is dropped releases its stream, unless that was taken over") {
    struct Capsule {
      void* memory;
      static void* pointer(void* capsule, const char* name) {
        return std::string_view(name) == "arrow_array_stream"
                   ? static_cast<Capsule*>(capsule)->memory
                   : nullptr;
      }
    };
    static int released = 0;
    for (const bool taken : {false, true}) {
      auto* const stream = static_cast<ArrowArrayStream*>(std::calloc(1, sizeof(ArrowArrayStream)));
      REQUIRE(stream != nullptr);
      if (!taken) {
        stream->release = [](ArrowArrayStream* self) {
          ++released;
          self->release = nullptr;
        };
      }
      Capsule capsule{stream};
      stackpack_set_capsule_pointer(&Capsule::pointer);
      stackpack_drop_stream_capsule(&capsule);
      CHECK(released == 1);
    }
    Capsule other{nullptr};
    stackpack_drop_stream_capsule(&other);
    CHECK(released == 1);
  }

  TEST_CASE("c arrow: an error says whether it is the output's") {
    const ScratchDirectory folder;
    const std::string input = folder.file("a.folded");
    std::ofstream(input) << "main;work 3\n";
    stackpack_error error{};
    error.struct_size = sizeof error;
    CHECK(stackpack_convert(input.c_str(), folder.file("none/a.spk").c_str(), nullptr, nullptr) !=
          STACKPACK_OK);
    REQUIRE(stackpack_get_error(&error) == STACKPACK_OK);
    CHECK(error.of_output == 1);
    CHECK(stackpack_convert(folder.file("none").c_str(), folder.file("a.spk").c_str(), nullptr,
                            nullptr) == STACKPACK_NOT_FOUND);
    REQUIRE(stackpack_get_error(&error) == STACKPACK_OK);
    CHECK(error.of_output == 0);
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
