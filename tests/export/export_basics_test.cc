// The small parts: times and names of the request, text, ids, tables.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "bytes/utf8.h"
#include "export/hand_made_capture.h"
#include "export/lanes/lane_samples.h"
#include "export/output/csv_table.h"
#include "export/output/spilled_message.h"
#include "query/naming/build_id_text.h"
#include "query/naming/stack_tree.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

using namespace stackpack;

TEST_CASE("utf8: what is not valid becomes U+FFFD, byte by byte") {
  struct Case {
    const char* name;
    std::string text;
    std::string expected;
  };
  const std::string bad = "\xEF\xBF\xBD";
  for (const Case& c :
       std::vector<Case>{{"ascii", "abc", "abc"},
                         {"two, three and four bytes", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
                          "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
                         {"a lone continuation", "a\x80z", "a" + bad + "z"},
                         {"an overlong slash", "\xC0\xAF", bad + bad},
                         {"an overlong three-byte form", "\xE0\x80\xAF", bad + bad + bad},
                         {"a surrogate", "\xED\xA0\x80", bad + bad + bad},
                         {"above the last code point", "\xF4\x90\x80\x80", bad + bad + bad + bad},
                         {"cut at the end", "ok\xE2\x82", "ok" + bad + bad},
                         {"cut by a letter", "\xC3z", bad + "z"}}) {
    CAPTURE(c.name);
    CHECK(bytes::valid_utf8(c.text) == c.expected);
  }
}

TEST_CASE("times: as listings write them, in ns, and as distances") {
  struct Case {
    const char* text;
    std::optional<CaptureTime> expected;
  };
  for (const Case& c :
       std::vector<Case>{{"0", CaptureTime{0, false}},
                         {"18446744073709551615", CaptureTime{~std::uint64_t{0}, false}},
                         {"1.5s", CaptureTime{1'500'000'000, true}},
                         {"20ms", CaptureTime{20'000'000, true}},
                         {"0.3us", CaptureTime{300, true}},
                         {"7ns", CaptureTime{7, true}},
                         {"", std::nullopt},
                         {"1.5", CaptureTime{1'500'000'000, false}},
                         {"1481.017314885", CaptureTime{1'481'017'314'885, false}},
                         {"9007199.254740993", CaptureTime{9'007'199'254'740'993, false}},
                         {"0.0000000019", CaptureTime{1, false}},
                         {"+1.5s", CaptureTime{1'500'000'000, true}},
                         {"+1.5", CaptureTime{1'500'000'000, true}},
                         {"+20ms", CaptureTime{20'000'000, true}},
                         {"+0s", CaptureTime{0, true}},
                         {"18446744073.709551615s", CaptureTime{~std::uint64_t{0}, true}},
                         {"18446744073.709551616", std::nullopt},
                         {"18446744074s", std::nullopt},
                         {"+", std::nullopt},
                         {"++1s", std::nullopt},
                         {"1.", std::nullopt},
                         {".5s", std::nullopt},
                         {"1.s", std::nullopt},
                         {"-1s", std::nullopt},
                         {"1.5m", std::nullopt},
                         {"s", std::nullopt},
                         {"nans", std::nullopt},
                         {"infs", std::nullopt},
                         {"1e3s", std::nullopt},
                         {"99999999999999s", std::nullopt},
                         {"18446744073709551616", std::nullopt},
                         {"1.5s ", std::nullopt}}) {
    CAPTURE(c.text);
    CHECK(parse_capture_time(c.text) == c.expected);
  }
}

TEST_CASE("export formats: every name is found again, in the order of the enumeration") {
  const auto names = export_format_names();
  REQUIRE(names.size() == 9);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(export_format_of(names[i]) == static_cast<ExportFormat>(i));
  }
  CHECK_FALSE(export_format_of("Folded").has_value());
}

TEST_CASE("build ids: GNU ids are hex, PDB ids are GUID and age") {
  Module module;
  CHECK(query::build_id_text(module).empty());
  CHECK(query::breakpad_id(module) == std::string(33, '0'));
  for (std::uint8_t i = 1; i <= 20; ++i) {
    module.build_id.push_back(i);
  }
  module.build_id_kind = BuildIdKind::kGnu;
  CHECK(query::build_id_text(module) == "0102030405060708090a0b0c0d0e0f1011121314");
  CHECK(query::breakpad_id(module) == "0403020106050807090A0B0C0D0E0F100");
  module.build_id_kind = BuildIdKind::kPdb;  // the age is 0x14131211
  CHECK(query::build_id_text(module) == "0403020106050807090A0B0C0D0E0F1014131211");
  // Only with all its bytes is there an age.
  for (const std::size_t size : {24U, 21U, 20U, 19U, 17U, 16U}) {
    module.build_id.resize(size);
    CHECK(query::breakpad_id(module) ==
          std::string("0403020106050807090A0B0C0D0E0F10") + (size >= 20 ? "14131211" : "0"));
  }
  module.build_id.resize(3);
  CHECK(query::breakpad_id(module) ==
        "00030201000000000000000000000000"
        "0");
}

TEST_CASE("spilled message: what went to disk counts, and comes back") {
  const test::ScratchDirectory folder;
  exporting::SpilledMessage message(std::filesystem::temp_directory_path().string());
  std::string whole;
  for (int i = 0; i < 3'000; ++i) {
    const std::string field = std::to_string(i) + std::string(1'000, 'x');
    message.buffer() += field;
    message.flush_if_full();
    whole += field;
    REQUIRE(message.size() == whole.size());
  }
  const std::string path = folder.file("message");
  auto file = io::OutputFile::create(path);
  REQUIRE(file);
  exporting::ExportOutput out(**file, exporting::ExportOutput::Coding::kPlain);
  REQUIRE(message.copy_to(out, 0, 10));
  REQUIRE(message.copy_to(out, 10, message.size()));
  REQUIRE(out.finish());
  REQUIRE((*file)->commit());
  const auto bytes = test::read_test_file(path);
  CHECK(std::equal(bytes.begin(), bytes.end(), whole.begin(), whole.end(),
                   [](std::byte b, char c) { return static_cast<char>(b) == c; }));
}

TEST_CASE("stack tree: equal paths end at one node, and paths come back") {
  std::mt19937 random(6);
  query::StackTree tree;
  std::map<std::vector<std::uint32_t>, std::uint32_t> nodes;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint32_t> path;
    std::uint32_t node = query::StackTree::kRoot;
    const std::size_t depth = random() % 8;
    while (path.size() < depth) {
      path.push_back(static_cast<std::uint32_t>(random() % 5));
      const auto child = tree.child(node, path.back());
      REQUIRE(child.has_value());
      CHECK(tree.parent(*child) == node);
      CHECK(*child > node);
      node = *child;
    }
    CHECK(nodes.try_emplace(path, node).first->second == node);
  }
  std::vector<std::uint32_t> back;
  for (const auto& [path, node] : nodes) {
    tree.path_to_root(node, back);
    std::reverse(back.begin(), back.end());
    CHECK(back == path);
  }
}

TEST_CASE("csv: fields are quoted where they must be, unknown ones are empty") {
  const test::TemporaryDirectory directory;
  auto table = exporting::CsvTable::create(directory.file("t.csv"), "a,b,c");
  REQUIRE(table.has_value());
  (*table)->text("plain").text("").known(std::uint32_t{7}, kUnknownId).end_row();
  (*table)->text("a,\"b\"\n").known(kUnknownId, kUnknownId).number(~std::uint64_t{0}).end_row();
  REQUIRE((*table)->finish().has_value());
  REQUIRE((*table)->commit().has_value());
  CHECK(test::content_of(directory.file("t.csv")) ==
        "a,b,c\nplain,,7\n\"a,\"\"b\"\"\n\",,18446744073709551615\n");
}

TEST_CASE("csv: addresses are text of one width; what a spreadsheet would run is quoted") {
  const test::TemporaryDirectory directory;
  auto table = exporting::CsvTable::create(directory.file("t.csv"), "a");
  REQUIRE(table.has_value());
  (*table)->hex(0xffff'ffff'8100'0123).hex(0).end_row();
  (*table)->text("=1+1").text("+x").text("-x").text("@x").text("x=").end_row();
  REQUIRE((*table)->finish().has_value());
  REQUIRE((*table)->commit().has_value());
  CHECK(test::content_of(directory.file("t.csv")) ==
        "a\n0xffffffff81000123,0x0000000000000000\n\"=1+1\",\"+x\",\"-x\",\"@x\",x=\n");
}

TEST_CASE("timeline: samples last to the next one, but not over a gap") {
  const std::vector<std::uint64_t> times = {100, 110, 120, 130, 130, 190, 200};
  const exporting::LaneReplay replay = [&](const auto& show) {
    for (const std::uint64_t time : times) {
      exporting::LaneSample sample;
      sample.time_ns = time;
      show(sample);
    }
    return Status{};
  };
  const auto timeline = exporting::LaneTimeline::create(replay);
  REQUIRE(timeline.has_value());
  CHECK(timeline->interval_ns() == 10);
  std::vector<std::pair<bool, std::uint64_t>> parts;
  REQUIRE(timeline
              ->for_each(replay,
                         [&](const exporting::LaneTimeline::Part& part) {
                           parts.emplace_back(part.sample != nullptr, part.duration_ns);
                         })
              .has_value());
  CHECK(parts == std::vector<std::pair<bool, std::uint64_t>>{{true, 10},
                                                             {true, 10},
                                                             {true, 10},
                                                             {true, 0},
                                                             {true, 20},
                                                             {false, 40},
                                                             {true, 10},
                                                             {true, 10}});
  CHECK(timeline->first_ns() == 100);
  CHECK(timeline->last_ns() == 210);
}
