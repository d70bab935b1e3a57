#include "symbolize/names_codec.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "symbolize/name_collector.h"

namespace stackpack::symbolize {

namespace {

FoundNames some_names() {
  NameCollector names;
  Function function;
  function.owner = FunctionOwner::kImage;
  function.start = 0x1000;
  function.size = 0x40;
  function.source = FunctionSource::kDwarf;
  function.name = names.text("run(int)");
  function.linkage = names.text("_Z3runi");
  function.file = names.text("run.cc");
  function.line = 12;
  function.born_ns = 77;
  names.add_function(function);
  InlinedCall call;
  call.name = names.text("step");
  call.call_file = names.text("run.cc");
  call.call_line = 14;
  const std::uint32_t outer = names.add_call(call);
  call.parent = outer;
  call.call_line = 20;
  CodeLine line;
  line.owner = FunctionOwner::kImage;
  line.start = 0x1008;
  line.size = 4;
  line.inlined = names.add_call(call);
  line.file = names.text("step.h");
  line.line = 5;
  line.born_ns = 78;
  names.add_line(line);
  names.add_alias(function.name, names.text("start"));
  return {std::move(names).finish(), {3, 70'000, 1, 9}};
}

}  // namespace

TEST_CASE("names codec: what goes in comes out") {
  const FoundNames found = some_names();
  const Result<FoundNames> back = decode_names(encode_names(found), {});
  REQUIRE(back.has_value());
  CHECK(*back == found);
}

TEST_CASE("names codec: an answer that is cut or changed is refused or harmless") {
  const std::vector<std::byte> good = encode_names(some_names());
  FoundNames without_aliases = some_names();
  without_aliases.names.aliases.clear();
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Result<FoundNames> found = decode_names(std::span(good).first(size), {});
    CHECK((!found || *found == without_aliases));
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0U, 0x7FU, 0xFFU}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      const Result<FoundNames> found = decode_names(bad, {});
      if (!found) {
        continue;
      }
      const Names* const names = &found->names;
      for (const CodeLine& line : names->lines) {
        CHECK((line.inlined == kNoInline || line.inlined < names->inlined.size()));
        CHECK((line.file == kNoText || line.file < names->texts.size()));
        CHECK(line.size != 0);
      }
    }
  }
  SymbolLimits few;
  few.rows = 0;
  CHECK(!decode_names(good, few).has_value());
}

}  // namespace stackpack::symbolize
