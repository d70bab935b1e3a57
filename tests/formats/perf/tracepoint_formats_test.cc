// What a kernel says of its tracepoints: fields of payloads, and letters of states.
#include "formats/perf/tracepoint_formats.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "formats/perf/task_states.h"

namespace stackpack::test {
namespace {

constexpr std::string_view kSwitch =
    "name: sched_switch\nID: 372\nformat:\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\nprint fmt: \"prev_pid=%d\", REC->prev_pid\n";

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  for (const char letter : text) {
    bytes.push_back(static_cast<std::byte>(letter));
  }
  return bytes;
}

void append_big(std::string& out, std::uint64_t value, unsigned size, bool big) {
  for (unsigned i = 0; i < size; ++i) {
    out += static_cast<char>(value >> 8 * (big ? size - 1 - i : i));
  }
}

// TRACING_DATA with one event, in the byte order that its numbers have.
std::string tracing_data(std::string_view text, bool big) {
  std::string out = "\x17\x08\x44tracing";
  out += "0.6";
  out += '\0';
  out += big ? '\1' : '\0';
  out += '\x08';
  append_big(out, 4096, 4, big);
  for (const std::string_view header : {"header_page", "header_event"}) {
    out += header;
    out += '\0';
    append_big(out, 2, 8, big);
    out += "xx";
  }
  append_big(out, 1, 4, big);
  append_big(out, 3, 8, big);
  out += "own";
  append_big(out, 1, 4, big);
  out += "sched";
  out += '\0';
  append_big(out, 1, 4, big);
  append_big(out, text.size(), 8, big);
  out += text;
  return out;
}

bool want_all(std::string_view /*system*/, std::string_view /*name*/) {
  return true;
}

TEST_CASE("tracepoints: fields are read where the text puts them") {
  perf::TracepointFormat format;
  REQUIRE(perf::read_tracepoint_format(kSwitch, format) == std::uint64_t{372});
  CHECK(format.name == "sched_switch");
  CHECK(format.print_format.find("REC->prev_pid") != std::string::npos);
  const auto payload = bytes_of(std::string_view("\0\0\x08\0\xff\xff\xff\xff", 8));
  CHECK(format.read(bytes::ByteCursor(payload, 0), "common_flags") == std::uint64_t{8});
  CHECK(format.read(bytes::ByteCursor(payload, 0), "prev_pid") == ~std::uint64_t{0});
  CHECK_FALSE(format.read(bytes::ByteCursor(payload, 0), "next_pid"));
  const auto shorter = bytes_of(std::string_view("\0\0\x08\0\xff\xff\xff", 7));
  CHECK_FALSE(format.read(bytes::ByteCursor(shorter, 0), "prev_pid"));
}

TEST_CASE("tracepoints: a declaration says what a field is") {
  using Content = perf::TracepointContent;
  const std::pair<std::string_view, Content> cases[] = {
      {"unsigned long count; offset:8; size:8;", Content::kNumber},
      {"const char * path; offset:8; size:8;", Content::kAddress},
      {"void *ptr; offset:8; size:8;", Content::kAddress},
      {"char comm[16]; offset:8; size:16;", Content::kText},
      {"char rwbs[8]; offset:8; size:8;", Content::kText},
      {"const char *names[2]; offset:8; size:16;", Content::kOther},
      {"unsigned char bytes[16]; offset:8; size:16;", Content::kOther},
      {"__data_loc char[] name; offset:8; size:4;", Content::kTextElsewhere},
      {"__data_loc __u8[] bytes; offset:8; size:4;", Content::kOther},
      {"__rel_loc char[] name; offset:8; size:4;", Content::kTextAfter},
      {"unsigned long args[6]; offset:8; size:48;", Content::kOther},
      {"struct pair both; offset:8; size:16;", Content::kOther},
      {"u8 none; offset:8; size:0;", Content::kOther},
  };
  for (const auto& [declaration, content] : cases) {
    CAPTURE(declaration);
    perf::TracepointFormat format;
    REQUIRE(perf::read_tracepoint_format("ID: 1\n\tfield:" + std::string(declaration), format));
    REQUIRE(format.fields.size() == 1);
    CHECK(format.fields.begin()->second.content == content);
  }
}

TEST_CASE("tracepoints: a text without an id has none") {
  perf::TracepointFormat format;
  CHECK_FALSE(perf::read_tracepoint_format("name: sched_switch\nformat:\n", format));
  CHECK_FALSE(perf::read_tracepoint_format("", format));
}

TEST_CASE("tracepoints: TRACING_DATA of both byte orders, and of any part of it") {
  for (const bool big : {false, true}) {
    const auto whole = bytes_of(tracing_data(kSwitch, big));
    perf::TracepointFormats formats;
    CHECK(perf::read_tracepoint_formats(bytes::ByteCursor(whole, 0), want_all, formats));
    REQUIRE(formats.contains(372));
    CHECK(formats[372].system == "sched");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      perf::TracepointFormats some;
      const std::vector<std::byte> part(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_FALSE(perf::read_tracepoint_formats(bytes::ByteCursor(part, 0), want_all, some));
    }
  }
}

TEST_CASE("task states: without a text those of Linux 4.14 and later") {
  const perf::TaskStates states;
  CHECK(states.letters(0) == "R");
  CHECK(states.letters(1) == "S");
  CHECK(states.letters(2) == "D");
  CHECK(states.letters(0x80) == "I");
  CHECK(states.letters(3) == "S|D");
  CHECK(states.letters(0x100) == "R");
  CHECK(states.preempted(0x100));
  CHECK_FALSE(states.preempted(0x80));
}

TEST_CASE("task states: letters, mask and plus are those of the text") {
  const perf::TaskStates states(
      "\"%s%s\", (REC->prev_state & ((((0x0000 | 0x0001 | 0x0002) + 1) << 1) - 1)) ? "
      "__print_flags(REC->prev_state & ((((0x0000 | 0x0001 | 0x0002) + 1) << 1) - 1), \"|\", "
      "{ 0x0001, \"S\" }, { 0x0002, \"x\" }) : \"R\", REC->prev_state & (((0x0002 + 1) << 1)) ? "
      "\"+\" : \"\"");
  CHECK(states.letters(1) == "S");
  CHECK(states.letters(2) == "x");
  CHECK(states.letters(8) == "R");
  CHECK(states.preempted(6));
  CHECK_FALSE(states.preempted(0x100));
}

TEST_CASE("task states: a text that is something else is not used") {
  const perf::TaskStates states(
      "(REC->prev_state & 1) ? __print_flags(REC->prev_state & x, \"|\", { 1, \"Q\" }) : \"R\"");
  CHECK(states.letters(1) == "S");
}

}  // namespace
}  // namespace stackpack::test
