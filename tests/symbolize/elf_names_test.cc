#include "symbolize/elf_names.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "io/system_file.h"
#include "support/own_code.h"
#include "symbolize/traced_code.h"

namespace stackpack::symbolize {

namespace {

// What the file of this program says of itself.
Names own_names(const std::vector<std::uint64_t>& offsets, bool inlines) {
  const Result<io::RootedFile> file = io::open_rooted_file("", test::own_path());
  REQUIRE(file.has_value());
  ElfFiles files;
  files.image = file->descriptor.get();
  files.layout = test::own_identity();
  NameCollector names;
  REQUIRE(read_elf_names(files, {offsets, inlines, {}}, names).has_value());
  return std::move(names).finish();
}

}  // namespace

TEST_CASE("elf names: the function that has an address, from the symbol table") {
  const std::uint64_t offset = test::own_offset_of(&test::traced_outer);
  REQUIRE(offset != 0);
  const Names names = own_names({offset, offset + 3}, false);
  REQUIRE(names.functions.size() == 1);
  const Function& function = names.functions.front();
  CHECK(function.owner == FunctionOwner::kImage);
  CHECK(function.start == offset);
  CHECK(function.size > 3);
  CHECK(function.source == FunctionSource::kSymtab);
  const std::uint32_t linked = function.linkage == kNoText ? function.name : function.linkage;
  CHECK(names.texts[linked] == "_ZN9stackpack4test12traced_outerEi");
  CHECK(names.lines.empty());
}

// The chain at an offset, innermost first: `name line`.
std::vector<std::string> chain_at(const Names& names, std::uint64_t offset) {
  std::vector<std::string> chain;
  for (const CodeLine& line : names.lines) {
    if (offset - line.start >= line.size) {
      continue;
    }
    std::uint32_t number = line.line;
    for (std::uint32_t at = line.inlined; at != kNoInline; at = names.inlined[at].parent) {
      const InlinedCall& call = names.inlined[at];
      chain.push_back(std::string(names.texts[call.name]) + " " + std::to_string(number));
      number = call.call_line;
    }
    chain.push_back(std::to_string(number));
  }
  return chain;
}

TEST_CASE("elf names: debug information gives lines and chains of inlined calls") {
  const std::uint64_t offset = test::own_offset_of(&test::traced_outer);
  std::vector<std::uint64_t> offsets;
  const std::uint64_t size = own_names({offset}, false).functions.front().size;
  for (std::uint64_t i = 0; i < size; ++i) {
    offsets.push_back(offset + i);
  }
  const Names names = own_names(offsets, true);
  std::set<std::vector<std::string>> chains;
  for (const std::uint64_t one : offsets) {
    chains.insert(chain_at(names, one));
  }
  // The lines of traced_code.cc. Sanitizers add code and may keep calls.
  CHECK(chains.contains({"21"}));
  bool nested = false;
  for (const std::vector<std::string>& chain : chains) {
    nested |= chain.size() == 3 && chain[0].find("traced_inner") != std::string::npos &&
              chain[0].ends_with(" 10") && chain[1].find("traced_middle") != std::string::npos &&
              chain[1].ends_with(" 14") && chain[2] == "22";
    CHECK(chain.size() <= 3);
  }
  CHECK(nested);
  bool named = false;
  for (const CodeLine& line : names.lines) {
    named |= names.texts[line.file].ends_with("/traced_code.cc");
  }
  CHECK(named);
  CHECK(own_names(offsets, false).lines.empty());
}

TEST_CASE("elf names: code of a class within a function that is inlined everywhere") {
  const std::uint64_t offset = test::own_offset_of(test::traced_local());
  std::vector<std::uint64_t> offsets;
  const std::uint64_t size = own_names({offset}, false).functions.front().size;
  for (std::uint64_t i = 0; i < size; ++i) {
    offsets.push_back(offset + i);
  }
  const Names names = own_names(offsets, true);
  bool inlined = false;
  for (const std::uint64_t one : offsets) {
    const std::vector<std::string> chain = chain_at(names, one);
    inlined |= chain.size() == 2 && chain[0].find("traced_inner") != std::string::npos;
  }
  CHECK(inlined);
}

TEST_CASE("elf names: an address in no function has no name") {
  // The header of the file, and what is far beyond its end.
  const Names names = own_names({1, std::uint64_t{1} << 40}, false);
  CHECK(names.functions.empty());
  CHECK(names.texts.size() == 0);
}

}  // namespace stackpack::symbolize
