#include "app/cut/cut.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

// Two processes with the same addresses, whose functions are called otherwise; every third sample
// has no callstack.
SpkContent shared_addresses(std::uint32_t first, std::uint32_t second) {
  SpkContent content;
  content.stacks = {{{FrameMode::kUser, 0x1005}},
                    {{FrameMode::kUser, 0x1005}, {FrameMode::kUser, 0x2005}}};
  for (std::uint32_t i = 0; i < 12; ++i) {
    StoredSample sample;
    sample.time_ns = 1000 + i;
    sample.pid = sample.tid = i % 2 == 0 ? first : second;
    sample.weight = 1;
    if (i % 3 != 2) {
      sample.stack = StackId{i % 3};
      sample.origin = StackOrigin::kRecorded;
    }
    content.samples.push_back(sample);
  }
  for (const std::uint32_t pid : {7U, 8U}) {
    content.tables.processes.push_back({pid, 1, kUnknownTime, kUnknownTime, false, "prog", ""});
  }
  content.add_names = [](spk::NameWriter& writer) {
    Status added;
    for (const std::uint32_t pid : {7U, 8U}) {
      for (const std::uint64_t start : {0x1000U, 0x2000U}) {
        Function function;
        function.pid = pid;
        function.start = start;
        function.size = 0x10;
        const std::string name = (start == 0x1000 ? "main" : "leaf") + std::to_string(pid);
        added = added ? writer.add(function, {name, "", ""}) : added;
      }
    }
    return added;
  };
  return content;
}

// `pid:stack's depth` of each sample.
std::string samples_of(const std::string& path) {
  const auto reader = Reader::open(path);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
  std::string text;
  REQUIRE((*reader)->samples({}, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      std::vector<Frame> frames;
      REQUIRE((sample.stack == kNoStack || (*reader)->callstack(sample.stack, frames).has_value()));
      text += ' ' + std::to_string(sample.pid) + ':' + std::to_string(frames.size());
    }
    return true;
  }));
  return text;
}

TEST_CASE("cut: functions are those of the process, where processes share callstacks") {
  const ScratchDirectory folder;
  // Either process comes first.
  for (const auto& [first, second] : {std::pair{7U, 8U}, std::pair{8U, 7U}}) {
    REQUIRE(write_spk(shared_addresses(first, second), {}, folder.file("in.spk")).has_value());
    const std::string all = samples_of(folder.file("in.spk"));
    struct Case {
      std::vector<std::string> focus, ignore;
      std::string expected;  // in the order of 7 before 8
    };
    const std::string seven = first == 7 ? " 7:1 7:2 7:1 7:2" : " 7:2 7:1 7:2 7:1";
    const std::string eight = first == 8 ? " 8:1 8:2 8:1 8:2" : " 8:2 8:1 8:2 8:1";
    for (const Case& given :
         {Case{{"main7"}, {}, seven}, Case{{"main8"}, {}, eight}, Case{{"leaf7"}, {}, " 7:2 7:2"},
          Case{{"leaf8"}, {}, " 8:2 8:2"}, Case{{"main7"}, {"leaf7"}, " 7:1 7:1"},
          Case{{"main*"}, {"*7", "leaf*"}, " 8:1 8:1"}}) {
      app::CutOptions options;
      options.patterns.focus = given.focus;
      options.patterns.ignore = given.ignore;
      ConvertProgress progress;
      const auto report =
          app::cut_file(folder.file("in.spk"), folder.file("out.spk"), options, progress);
      REQUIRE_MESSAGE(report.has_value(), failure(report));
      CHECK(report->samples_before == 12);
      CHECK(samples_of(folder.file("out.spk")) == given.expected);
      CHECK(report->statistics.samples.total ==
            static_cast<std::uint64_t>(
                std::count(given.expected.begin(), given.expected.end(), ':')));
    }
    ConvertProgress progress;
    REQUIRE(app::cut_file(folder.file("in.spk"), folder.file("out.spk"), {}, progress).has_value());
    CHECK(samples_of(folder.file("out.spk")) == all);
  }
}

}  // namespace
}  // namespace stackpack::test
