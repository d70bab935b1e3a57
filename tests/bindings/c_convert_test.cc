#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/c_api.h"
#include "stackpack/convert.h"
#include "stackpack/merge.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

TEST_SUITE("bindings") {
  TEST_CASE("c convert: stack dumps are unwound by the binaries of a sysroot and of folders") {
    const ScratchDirectory folder;
    const std::string binaries = std::string(source_folder()) + "/testdata/unwind";
    const std::string input = binaries + "/dumps.data";
    const std::string output = folder.file("c.spk");
    const std::string expected = folder.file("expected.spk");
    stackpack_convert_options options{};
    options.struct_size = sizeof options;
    ConvertOptions same;
    const auto output_of_both = [&] {
      REQUIRE(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_OK);
      REQUIRE(convert(input, expected, same, nullptr).has_value());
      CHECK(read_test_file(output) == read_test_file(expected));
      return read_test_file(output);
    };
    const auto recorded = output_of_both();
    const std::string empty = folder.file("empty");
    const std::string root = folder.file("root");
    std::filesystem::create_directories(empty);
    std::filesystem::create_directories(root + "/home/user");
    std::filesystem::copy_file(binaries + "/framed", root + "/home/user/framed");
    options.unwind = 1;
    same.unwind = true;
    options.sysroot = empty.c_str();
    same.sysroot = empty;
    const auto without = output_of_both();
    CHECK(without != recorded);
    options.sysroot = root.c_str();
    same.sysroot = root;
    const auto of_root = output_of_both();
    CHECK(of_root != without);
    options.sysroot = empty.c_str();
    same.sysroot = empty;
    const std::array<const char*, 2> folders{empty.c_str(), binaries.c_str()};
    options.binary_folders = folders.data();
    options.binary_folder_count = folders.size();
    same.binary_folders = {empty, binaries};
    CHECK(output_of_both() == of_root);
  }

  TEST_CASE("c convert: values of events are left out") {
    const ScratchDirectory folder;
    const std::string input = std::string(source_folder()) + "/testdata/small.nettrace";
    const std::string output = folder.file("c.spk");
    const std::string expected = folder.file("expected.spk");
    stackpack_convert_options options{};
    options.struct_size = sizeof options;
    REQUIRE(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_OK);
    const auto whole = read_test_file(output);
    options.drop_event_values = 1;
    ConvertOptions same;
    same.event_values = false;
    REQUIRE(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_OK);
    REQUIRE(convert(input, expected, same, nullptr).has_value());
    CHECK(read_test_file(output) == read_test_file(expected));
    CHECK(read_test_file(output) != whole);
  }

  TEST_CASE("c convert: options and reports are those of C++") {
    struct Change {
      const char* name;
      void (*in_c)(stackpack_convert_options&);
      void (*in_cpp)(ConvertOptions&);
    };
    const std::vector<Change> changes = {
        {"none", [](auto&) {}, [](auto&) {}},
        {"level", [](auto& c) { c.level = 1; }, [](auto& cpp) { cpp.level = 1; }},
        {"samples", [](auto& c) { c.drop_samples = 1; }, [](auto& cpp) { cpp.samples = false; }},
        {"redact", [](auto& c) { c.redact = 1; }, [](auto& cpp) { cpp.redact = true; }},
        {"format", [](auto& c) { c.format = "perf"; }, [](auto& cpp) { cpp.format = "perf"; }},
        {"resolution", [](auto& c) { c.time_resolution_ns = 1'000'000; },
         [](auto& cpp) { cpp.time_resolution_ns = 1'000'000; }},
        {"waits", [](auto& c) { c.drop_waits = 1; }, [](auto& cpp) { cpp.waits = false; }},
        {"values", [](auto& c) { c.drop_event_values = 1; },
         [](auto& cpp) { cpp.event_values = false; }},
        {"fields", [](auto& c) { c.drop_sample_fields = 1; },
         [](auto& cpp) { cpp.sample_fields = false; }},
        {"branches", [](auto& c) { c.keep_branches = 1; },
         [](auto& cpp) { cpp.keep_branches = true; }}};
    const ScratchDirectory folder;
    const std::string cut = folder.file("cut.perf.data");
    const auto whole = read_test_file(source_folder() + "/testdata/tiny.perf.data");
    std::ofstream(cut, std::ios::binary)
        .write(static_cast<const char*>(static_cast<const void*>(whole.data())),
               static_cast<std::streamsize>(whole.size() * 2 / 3));
    bool lossy = false;
    bool sound = false;
    for (const std::string& input : {cut, source_folder() + "/testdata/tiny.perf.data",
                                     source_folder() + "/testdata/branches/loop.perf.data.gz",
                                     source_folder() + "/testdata/sampled.x64.etl"}) {
      for (const Change& change : changes) {
        CAPTURE(input);
        CAPTURE(change.name);
        const std::string output = folder.file("c.spk");
        const std::string same = folder.file("cpp.spk");
        stackpack_convert_options options{};
        options.struct_size = sizeof options;
        change.in_c(options);
        ConvertOptions cpp;
        change.in_cpp(cpp);
        stackpack_convert_report report{};
        report.struct_size = sizeof report;
        const auto expected = convert(input, same, cpp, nullptr);
        const stackpack_status status =
            stackpack_convert(input.c_str(), output.c_str(), &options, &report);
        REQUIRE((status == STACKPACK_OK) == expected.has_value());
        if (!expected) {
          continue;
        }
        CHECK(read_test_file(output) == read_test_file(same));
        CHECK(report.input_bytes == expected->input_bytes);
        CHECK(report.output_bytes == expected->output_bytes);
        CHECK(report.samples == expected->statistics.samples.total);
        CHECK(report.callstacks == expected->statistics.callstacks.unique);
        CHECK((report.lossy != 0) == expected->lossy);
        (report.lossy != 0 ? lossy : sound) = true;
      }
    }
    CHECK(lossy);
    CHECK(sound);
  }

  TEST_CASE("c convert: encoders do not show in the output; too many are refused") {
    const ScratchDirectory folder;
    const std::string input = std::string(source_folder()) + "/testdata/file.perf.data";
    const std::string output = folder.file("a.spk");
    stackpack_convert_options options{};
    options.struct_size = sizeof options;
    REQUIRE(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_OK);
    const auto expected = read_test_file(output);
    for (const std::uint32_t encoders : {1U, 64U, STACKPACK_NO_ENCODERS}) {
      options.encoders = encoders;
      REQUIRE(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_OK);
      CHECK(read_test_file(output) == expected);
    }
    options.encoders = 65;
    CHECK(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_USAGE);
    stackpack_merge_options merging{};
    merging.struct_size = sizeof merging;
    merging.encoders = 65;
    const std::array<const char*, 1> inputs{output.c_str()};
    const std::string merged = folder.file("m.spk");
    CHECK(stackpack_merge(inputs.data(), 1, merged.c_str(), &merging, nullptr, nullptr) ==
          STACKPACK_USAGE);
    merging.encoders = STACKPACK_NO_ENCODERS;
    CHECK(stackpack_merge(inputs.data(), 1, merged.c_str(), &merging, nullptr, nullptr) ==
          STACKPACK_OK);
  }

  TEST_CASE("c convert: an error says as what a capture was not read") {
    const ScratchDirectory folder;
    std::ofstream(folder.file("words")) << "some words and no capture\n";
    const auto tried = [] {
      stackpack_error error{};
      error.struct_size = sizeof error;
      REQUIRE(stackpack_get_error(&error) == STACKPACK_OK);
      return std::string(error.tried);
    };
    const auto convert_file = [&folder](const char* name) {
      return stackpack_convert(folder.file(name).c_str(), folder.file("out").c_str(), nullptr,
                               nullptr);
    };
    CHECK(convert_file("words") != STACKPACK_OK);
    ConvertProgress same;
    REQUIRE_FALSE(convert(folder.file("words"), folder.file("out"), {}, &same).has_value());
    std::string expected;
    for (const FormatTried& format : same.tried) {
      expected +=
          (expected.empty() ? "" : "\n") + ("not read as " + format.format) + ": " + format.why;
    }
    CHECK(tried() == expected);
    CHECK_FALSE(expected.empty());
    CHECK(convert_file("none") == STACKPACK_NOT_FOUND);
    CHECK(tried().empty());
  }

  TEST_CASE("c convert: a null pointer among the folders is refused") {
    const ScratchDirectory folder;
    const std::string input = std::string(source_folder()) + "/testdata/file.perf.data";
    const std::string output = folder.file("a.spk");
    stackpack_convert_options options{};
    options.struct_size = sizeof options;
    options.binary_folder_count = 1;
    CHECK(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_USAGE);
    const std::array<const char*, 1> folders{nullptr};
    options.binary_folders = folders.data();
    CHECK(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_USAGE);
    CHECK(!std::filesystem::exists(output));
    options.binary_folder_count = 0;
    CHECK(stackpack_convert(input.c_str(), output.c_str(), &options, nullptr) == STACKPACK_OK);
  }
}

}  // namespace
}  // namespace stackpack::test
