#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/c_api.h"
#include "stackpack/merge.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

std::string file_of(const ScratchDirectory& folder, const char* name,
                    const std::vector<std::byte>& bytes) {
  const std::string path = folder.file(name);
  std::ofstream out(path, std::ios::binary);
  for (const std::byte byte : bytes) {
    out.put(static_cast<char>(byte));
  }
  return path;
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_SUITE("c api of merges") {
  TEST_CASE("c api: a merge is that of C++, and names the input that is bad") {
    const ScratchDirectory folder;
    const std::string first = file_of(folder, "a.spk", spk_bytes(random_content(3, 100, 500)));
    const std::string second = file_of(folder, "b.spk", spk_bytes(random_content(4, 80, 900)));
    const std::array<const char*, 2> inputs{first.c_str(), second.c_str()};
    const std::string output = folder.file("c.spk");
    stackpack_merge_report report{};
    std::size_t failed = 9;
    CHECK(stackpack_merge(inputs.data(), 2, output.c_str(), nullptr, &report, &failed) ==
          STACKPACK_USAGE);
    report.struct_size = sizeof report.struct_size;  // no room for anything else
    CHECK(stackpack_merge(inputs.data(), 2, output.c_str(), nullptr, &report, &failed) ==
          STACKPACK_USAGE);
    CHECK_FALSE(std::filesystem::exists(output));
    report.struct_size = sizeof report;
    REQUIRE(stackpack_merge(inputs.data(), 2, output.c_str(), nullptr, &report, &failed) ==
            STACKPACK_OK);
    CHECK(failed == 2);

    // With an input that has counts alone, the others' samples are counted, too.
    spk::WriterOptions counts_alone;
    counts_alone.samples = false;
    const std::string counted =
        file_of(folder, "counted.spk", spk_bytes(random_content(4, 80, 900), counts_alone));
    const std::string mixed = folder.file("mixed.spk");
    REQUIRE(merge({first, counted}, mixed, {}, nullptr).has_value());
    const auto reader = Reader::open(mixed);
    REQUIRE(reader.has_value());
    CHECK_FALSE((*reader)->has_samples());
    CHECK((*reader)->statistics().samples.total == 1'400);

    const auto expected = merge({second, first}, folder.file("expected.spk"), {}, nullptr);
    REQUIRE(expected.has_value());
    CHECK(text_of_file(output) == text_of_file(folder.file("expected.spk")));
    CHECK(report.sources == 2);
    CHECK(report.samples == expected->statistics.samples.total);
    CHECK(report.callstacks == expected->statistics.callstacks.unique);
    CHECK(report.callstacks_before == expected->callstacks_before);
    CHECK(report.output_bytes == text_of_file(output).size());

    const std::string bad = file_of(folder, "bad.spk", std::vector<std::byte>(100));
    const std::array<const char*, 2> with_bad{first.c_str(), bad.c_str()};
    CHECK(stackpack_merge(with_bad.data(), 2, output.c_str(), nullptr, nullptr, &failed) !=
          STACKPACK_OK);
    CHECK(failed == 1);
    stackpack_merge_options options{};
    options.struct_size = sizeof options;
    options.keep_going = 1;
    options.drop_samples = 1;
    REQUIRE(stackpack_merge(with_bad.data(), 2, output.c_str(), &options, &report, nullptr) ==
            STACKPACK_OK);
    CHECK(report.bad_inputs == 1);
    CHECK(report.sources == 1);
    options.drop_samples = 0;
    options.time_resolution_ns = 1'000'000;
    REQUIRE(stackpack_merge(inputs.data(), 2, output.c_str(), &options, &report, nullptr) ==
            STACKPACK_OK);
    MergeOptions rounded;
    rounded.time_resolution_ns = 1'000'000;
    REQUIRE(merge({first, second}, folder.file("expected.spk"), rounded, nullptr).has_value());
    CHECK(text_of_file(output) == text_of_file(folder.file("expected.spk")));
    options.level = 23;
    CHECK(stackpack_merge(inputs.data(), 2, output.c_str(), &options, &report, nullptr) ==
          STACKPACK_USAGE);
    CHECK(stackpack_merge(nullptr, 1, output.c_str(), nullptr, nullptr, nullptr) ==
          STACKPACK_USAGE);
    CHECK(stackpack_merge(inputs.data(), 2, nullptr, nullptr, nullptr, nullptr) == STACKPACK_USAGE);
  }
}

}  // namespace
}  // namespace stackpack::test
