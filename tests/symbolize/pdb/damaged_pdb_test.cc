// What is read of a PDB, whole and with a byte changed anywhere: names, lines and what is said of
// the damage.
//
// damaged_pdb.txt has a line of figures for each file.
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "support/damaged_answers.h"
#include "symbolize/name_collector.h"
#include "symbolize/names_codec.h"
#include "symbolize/pdb/pdb_reader.h"

namespace stackpack::test {
namespace {

std::string names_of_pdb(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  const auto pdb = symbolize::PdbReader::open(*source);
  if (!pdb) {
    return message(pdb.error());
  }
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; address < 0x3000; address += 8) {
    addresses.push_back(address);
  }
  symbolize::SymbolRequest request;
  request.addresses = addresses;
  request.limits.rows = 10'000;
  symbolize::NameCollector collector;
  const auto damage = pdb->name(request, collector);
  if (!damage) {
    return message(damage.error());
  }
  const auto bytes = symbolize::encode_names({std::move(collector).finish(), {}});
  std::string text = std::to_string(damage->modules) + ',' + std::to_string(damage->tables) + ' ';
  for (const std::byte byte : bytes) {
    text += static_cast<char>(byte);
  }
  return text;
}

TEST_SUITE("damaged PDBs") {
  TEST_CASE("a PDB with a byte changed gives the names that it gave") {
    std::string lines;
    const std::string path = "testdata/symbols/inlined.pdb";
    list_damaged_answers(path, source_file(path), 200, names_of_pdb, lines);
    check_known_lines(lines, "tests/symbolize/pdb/damaged_pdb.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
