#include "symbolize/maps/jitdump.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "symbolize/maps/named_rows.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteOrder;
using test::TestBytes;

TestBytes jit_header(ByteOrder order, std::uint64_t flags = 0) {
  TestBytes out(order);
  out.u32(0x4A695444).u32(1).u32(40).u32(62).u32(0).u32(1234).u64(99).u64(flags);
  return out;
}

void put_jit_record(TestBytes& out, ByteOrder order, std::uint32_t kind, std::uint64_t time,
                    const TestBytes& body) {
  TestBytes record(order);
  record.u32(kind).u32(static_cast<std::uint32_t>(16 + body.bytes.size())).u64(time);
  out.append(record.bytes).append(body.bytes);
}

void put_load(TestBytes& out, ByteOrder order, std::uint64_t time, std::uint64_t start,
              std::uint64_t size, std::uint64_t index, std::string_view name) {
  TestBytes body(order);
  body.u32(1234).u32(1).u64(start).u64(start).u64(size).u64(index).text(name).u8(0);
  body.zeros(static_cast<std::size_t>(size));
  put_jit_record(out, order, 0, time, body);
}

void put_move(TestBytes& out, ByteOrder order, std::uint64_t time, std::uint64_t from,
              std::uint64_t to, std::uint64_t size, std::uint64_t index) {
  TestBytes body(order);
  body.u32(1234).u32(1).u64(to).u64(from).u64(to).u64(size).u64(index);
  put_jit_record(out, order, 1, time, body);
}

void put_jit_lines(TestBytes& out, ByteOrder order, std::uint64_t start,
                   const std::vector<std::pair<std::uint64_t, std::uint32_t>>& lines) {
  TestBytes body(order);
  body.u64(start).u64(lines.size());
  bool first = true;
  for (const auto& [address, line] : lines) {
    body.u64(address).u32(line).u32(0).text(first ? "a.js" : "\xFF").u8(0);
    first = false;
  }
  put_jit_record(out, order, 2, 0, body);
}

TestBytes example(ByteOrder order) {
  TestBytes out = jit_header(order);
  put_jit_lines(out, order, 0x100, {{0x100, 5}, {0x110, 6}});
  put_load(out, order, 10, 0x100, 0x20, 1, "first");
  put_jit_record(out, order, 4, 11, TestBytes(order).u64(0).u64(0));
  put_load(out, order, 20, 0x200, 0x20, 2, "second");
  put_move(out, order, 30, 0x200, 0x300, 0x20, 2);
  put_load(out, order, 40, 0x208, 0x10, 3, "third");
  put_jit_record(out, order, 3, 50, TestBytes(order));
  put_load(out, order, 60, 0x400, 0x20, 4, "after the end");
  return out;
}

std::string jit_names(const TestBytes& file, const std::vector<std::uint64_t>& addresses,
                      bool births) {
  const auto source = io::source_of_memory(file.bytes);
  const Result<JitDump> dump = JitDump::read(*source, addresses);
  if (!dump) {
    return message(dump.error());
  }
  SymbolRequest request;
  request.addresses = addresses;
  NameCollector names;
  dump->name(request, CodeRange(), births, names);
  return test::rows_text(std::move(names));
}

const std::vector<std::uint64_t> kEverywhere = {0x100, 0x118, 0x204, 0x20c, 0x21c, 0x310, 0x400};

}  // namespace

TEST_CASE("jitdump: code has its times, in either byte order") {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    CAPTURE(order == ByteOrder::kBig);
    CHECK(jit_names(example(order), kEverywhere, true) ==
          "100+20 first@10, 200+20 second@20, 208+10 third@40, 300+20 second@30, "
          "100+10 a.js:5, 110+10 a.js:6");
  }
}

TEST_CASE("jitdump: without times later code takes addresses from earlier code") {
  CHECK(jit_names(example(ByteOrder::kLittle), kEverywhere, false) ==
        "100+20 first, 200+8 second, 208+10 third, 218+8 second, 300+20 second, "
        "100+10 a.js:5, 110+10 a.js:6");
}

TEST_CASE("jitdump: only code that was asked for is named") {
  CHECK(jit_names(example(ByteOrder::kLittle), {0x118}, true) == "100+20 first@10, 110+10 a.js:6");
  CHECK(jit_names(example(ByteOrder::kLittle), {0x50}, true).empty());
}

TEST_CASE("jitdump: what is known of frames is of the code that comes next, and goes with it") {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    const auto put_frames = [order](TestBytes& out, std::uint64_t size, std::uint64_t header_size) {
      TestBytes body(order);
      body.u64(size).u64(header_size).u64(0).text("tables").text("hdr").zeros(7);
      put_jit_record(out, order, 4, 0, body);
    };
    TestBytes file = jit_header(order);
    put_frames(file, 9, 3);
    put_load(file, order, 10, 0x100, 0x20, 1, "first");
    put_load(file, order, 20, 0x200, 0x20, 2, "second");
    put_frames(file, 17, 3);  // larger than its record
    put_load(file, order, 30, 0x300, 0x20, 3, "third");
    put_frames(file, 2, 3);
    put_load(file, order, 40, 0x400, 0x20, 4, "fourth");
    put_move(file, order, 50, 0x100, 0x500, 0x20, 1);
    const auto source = io::source_of_memory(file.bytes);
    const Result<JitDump> dump = JitDump::read(*source, {});
    REQUIRE(dump.has_value());
    REQUIRE(dump->pieces() == 5);
    CHECK(dump->has_frames());
    CHECK(dump->counts().unread_records == 2);
    const auto text = [&dump](std::size_t piece) {
      const std::span<const std::byte> bytes = dump->frames(piece).eh_frame;
      std::string out;
      for (const std::byte byte : bytes) {
        out += static_cast<char>(byte);
      }
      return out;
    };
    CHECK(text(0) == "tables");
    CHECK(text(1).empty());
    CHECK(text(2).empty());
    CHECK(text(3).empty());
    CHECK(text(4) == "tables");
    CHECK(dump->frames(4).start == 0x500);
    CHECK(dump->frames(4).time == 50);
  }
}

TEST_CASE("jitdump: lines of code whose bytes were used again have its time") {
  TestBytes file = jit_header(ByteOrder::kLittle);
  put_jit_lines(file, ByteOrder::kLittle, 0x100, {{0x100, 5}, {0x110, 6}});
  put_load(file, ByteOrder::kLittle, 10, 0x100, 0x20, 1, "first");
  put_jit_lines(file, ByteOrder::kLittle, 0x110, {{0x110, 7}});
  put_load(file, ByteOrder::kLittle, 20, 0x110, 0x20, 2, "second");
  CHECK(jit_names(file, {0x104, 0x114}, true) ==
        "100+20 first@10, 110+20 second@20, "
        "100+10 a.js:5@10, 110+10 a.js:6@10, 110+20 a.js:7@20");
  // Without times each byte has the lines of the last code alone.
  CHECK(jit_names(file, {0x104, 0x114}, false) ==
        "100+10 first, 110+20 second, 100+10 a.js:5, 110+20 a.js:7");
}

TEST_CASE("jitdump: what its header says, and what is left out") {
  TestBytes file = example(ByteOrder::kLittle);
  const auto source = io::source_of_memory(file.bytes);
  const Result<JitDump> dump = JitDump::read(*source, kEverywhere);
  REQUIRE(dump.has_value());
  CHECK(dump->pid() == 1234);
  CHECK(dump->has_times());
  CHECK(dump->counts().loads == 3);
  CHECK(dump->counts().moves == 1);
  CHECK(dump->counts().unread_records == 0);
  CHECK(!dump->counts().cut);

  file = jit_header(ByteOrder::kLittle, 1);
  put_move(file, ByteOrder::kLittle, 30, 0x200, 0x300, 0x20, 9);
  put_load(file, ByteOrder::kLittle, 20, 0x200, 0, 2, "empty");
  file.u32(0);
  const auto other = io::source_of_memory(file.bytes);
  const Result<JitDump> damaged = JitDump::read(*other, kEverywhere);
  REQUIRE(damaged.has_value());
  CHECK(!damaged->has_times());
  CHECK(damaged->counts().unread_records == 2);
  CHECK(damaged->counts().cut);
}

TEST_CASE("jitdump: wherever it ends, what came before is kept") {
  const TestBytes good = example(ByteOrder::kLittle);
  for (std::size_t size = 40; size < good.bytes.size(); ++size) {
    TestBytes cut;
    cut.append(std::span(good.bytes).first(size));
    const std::string names = jit_names(cut, kEverywhere, true);
    CHECK((names.empty() || names.starts_with("100+20 first@10")));
  }
  CHECK(jit_names(TestBytes().text("JiTD"), {}, true).find("jitdump") != std::string::npos);
  TestBytes endless = jit_header(ByteOrder::kLittle);
  endless.u32(4).u32(0).u64(0);
  CHECK(jit_names(endless, {}, true).find("size of a record") != std::string::npos);
}

}  // namespace stackpack::symbolize
