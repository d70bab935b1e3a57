#include "symbolize/name_collector.h"

#include <utility>

#include <doctest/doctest.h>

namespace stackpack::symbolize {

namespace {

Function function_at(std::uint64_t start, std::uint32_t name) {
  Function function;
  function.owner = FunctionOwner::kImage;
  function.start = start;
  function.size = 16;
  function.name = name;
  return function;
}

}  // namespace

TEST_CASE("name collector: texts and inlined calls are kept once") {
  NameCollector names;
  const std::uint32_t main = names.text("main");
  const std::uint32_t parse = names.text("parse");
  CHECK(names.text("main") == main);
  CHECK(names.text("") == kNoText);
  CHECK(parse != main);
  InlinedCall call;
  call.name = parse;
  call.call_line = 7;
  const std::uint32_t outer = names.add_call(call);
  call.parent = outer;
  const std::uint32_t inner = names.add_call(call);
  CHECK(inner != outer);
  CHECK(names.add_call(call) == inner);
  const Names all = std::move(names).finish();
  CHECK(all.texts.size() == 2);
  CHECK(all.inlined.size() == 2);
  CHECK(all.inlined[inner].parent == outer);
}

TEST_CASE("name collector: rows come in the order of a file, equal ones once") {
  NameCollector names;
  const std::uint32_t first = names.text("first");
  const std::uint32_t second = names.text("second");
  names.add_function(function_at(0x40, second));
  names.add_function(function_at(0x20, first));
  names.add_function(function_at(0x40, second));
  Function kernel = function_at(0x10, first);
  kernel.owner = FunctionOwner::kKernel;
  names.add_function(kernel);
  CodeLine line;
  line.owner = FunctionOwner::kImage;
  line.size = 4;
  line.start = 0x44;
  names.add_line(line);
  line.start = 0x40;
  names.add_line(line);
  names.add_line(line);
  line.born_ns = 9;
  names.add_line(line);
  const Names all = std::move(names).finish();
  REQUIRE(all.functions.size() == 3);
  CHECK(all.functions[0].owner == FunctionOwner::kKernel);
  CHECK(all.functions[1].start == 0x20);
  CHECK(all.functions[2].start == 0x40);
  REQUIRE(all.lines.size() == 3);
  CHECK(all.lines[0].start == 0x40);
  CHECK(all.lines[1].born_ns == 9);
}

}  // namespace stackpack::symbolize
