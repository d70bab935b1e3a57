// The parts of a page that its totals do not show: order, resolution, text.
#include "export/html/page_data.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "export/html/page_file.h"
#include "export/html/page_head.h"
#include "export/html/page_order.h"
#include "export/html/time_rows.h"

using namespace stackpack;
using namespace stackpack::exporting;

namespace {

using Nodes = std::vector<std::uint32_t>;

/// root -> a -> b, root -> c, with weights; functions and nodes may come in another order.
PageContent small_page(bool other_way) {
  PageContent content;
  content.measures = {{"cycles", "samples"}};
  content.modules = {"app"};
  const std::vector<std::string> names = {"a", "b", "c"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    PageFunction function;
    function.name = other_way ? names[2 - i] : names[i];
    function.module = 0;
    content.functions.push_back(function);
  }
  const auto function = [&](std::uint32_t number) { return other_way ? 2 - number : number; };
  if (other_way) {
    content.parents = {0, 0, 0, 2};
    content.node_functions = {0, function(2), function(0), function(1)};
    content.self = {{{{1, 9}, {3, 4}}}};
  } else {
    content.parents = {0, 0, 1, 0};
    content.node_functions = {0, function(0), function(1), function(2)};
    content.self = {{{{2, 4}, {3, 9}}}};
  }
  return content;
}

std::string data_of(const PageContent& content) {
  std::string data;
  REQUIRE(encode_page(content, [&](std::span<const std::byte> bytes) -> Status {
    for (const std::byte byte : bytes) {
      data += static_cast<char>(byte);
    }
    return {};
  }));
  return data;
}

std::string base64_of(const std::string& text) {
  const test::TemporaryDirectory folder;
  auto file = io::OutputFile::create(folder.file("out"));
  REQUIRE(file);
  ExportOutput out(**file, ExportOutput::Coding::kPlain);
  Base64Output base64(out);
  for (const char c : text) {
    base64.write(std::as_bytes(std::span(&c, 1)));
  }
  base64.finish();
  REQUIRE(out.finish());
  REQUIRE((*file)->commit());
  std::ifstream stream(folder.file("out"), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("pages: the bytes do not depend on how functions and nodes were numbered") {
  CHECK(data_of(small_page(false)) == data_of(small_page(true)));
  const PageOrder order = order_of(small_page(false));
  CHECK(order.nodes == Nodes{0, 3, 1, 2});  // the heavier child first, then down
  CHECK(order.node_places == Nodes{0, 2, 3, 1});
}

TEST_CASE("pages: totals saturate") {
  PageContent content = small_page(false);
  content.self.front().front() = {{2, std::numeric_limits<std::uint64_t>::max()}, {3, 9}};
  const auto totals = totals_of(content, 0);
  CHECK(totals.front() == std::numeric_limits<std::uint64_t>::max());
  CHECK(totals[3] == 9);
}

TEST_CASE("pages: base64 as RFC 4648 has it") {
  CHECK(base64_of("").empty());
  CHECK(base64_of("f") == "Zg==");
  CHECK(base64_of("fo") == "Zm8=");
  CHECK(base64_of("foo") == "Zm9v");
  CHECK(base64_of("foobar") == "Zm9vYmFy");
  CHECK(base64_of("\xff\xfe\xfd") == "//79");
}

TEST_CASE("pages: the program has one place for data, and a policy that allows nothing else") {
  const std::string_view before = page_before_data();
  CHECK(before.ends_with("id=\"profile\">"));
  CHECK(before.find("default-src 'none'; script-src 'sha256-") != std::string_view::npos);
  CHECK(before.find("unsafe") == std::string_view::npos);
  CHECK(page_after_data().starts_with("</script>"));
}

TEST_CASE("pages: texts of the head are JSON whatever is in them") {
  PageContent content = small_page(false);
  content.title = std::string("nul\0 \" \\ </script> \x01", 20);
  content.losses = {{"lost", std::numeric_limits<std::uint64_t>::max(), "all", false},
                    {"seen", 1, "a remark", true}};
  const std::string head = page_head(content);
  CHECK(head.find("\"title\":\"nul\\u0000 \\\" \\\\ </script> \\u0001\"") != std::string::npos);
  CHECK(
      head.find(
          "[\"lost\",\"18446744073709551615\",\"all\",false],[\"seen\",\"1\",\"a remark\",true]") !=
      std::string::npos);
  CHECK(head.find('\0') == std::string::npos);
}

TEST_CASE("time rows: widths are round, and enough") {
  CHECK(round_width(0, 100) == 1);
  CHECK(round_width(99, 100) == 1);
  CHECK(round_width(100, 100) == 2);
  CHECK(round_width(1'000'000'000, 2000) == 1'000'000);
  CHECK(round_width(1'999'999'999, 1000) == 2'000'000);
  CHECK(round_width(std::numeric_limits<std::uint64_t>::max(), 2) == 10'000'000'000'000'000'000ULL);
  CHECK(width_text(1) == "1 ns");
  CHECK(width_text(250'000) == "250 us");
  CHECK(width_text(5'000'000) == "5 ms");
  CHECK(width_text(20'000'000'000) == "20 s");
}

TEST_CASE("time rows: samples of one bucket, thread, node and event are one row") {
  TimeRows rows(1000, 1099, {10, 0}, 100);
  TimeRow sample;
  sample.count = 1;
  sample.weight = 7;
  rows.add(1000, sample);
  rows.add(1009, sample);
  rows.add(1010, sample);
  sample.node = 1;
  rows.add(1099, sample);
  rows.add(5000, sample);  // what lies outside goes to the last bucket
  REQUIRE(rows.fits());
  const PageTimeline timeline = rows.finish();
  CHECK(timeline.width_ns == 10);
  CHECK(timeline.buckets == 10);
  CHECK(timeline.resolution == "10 ns buckets; callstacks complete");
  REQUIRE(timeline.rows.size() == 3);
  CHECK(timeline.rows[0].count == 2);
  CHECK(timeline.rows[0].weight == 14);
  CHECK(timeline.rows[1].bucket == 1);
  CHECK(timeline.rows[2].bucket == 9);
  CHECK(timeline.rows[2].count == 2);
}

TEST_CASE("time rows: more rows than the limit are too many") {
  TimeRows rows(0, 9, {10, 0.001}, 3);
  for (std::uint64_t time = 0; time < 3; ++time) {
    rows.add(time, {});
  }
  CHECK(rows.fits());
  rows.add(3, {});
  CHECK_FALSE(rows.fits());
}
