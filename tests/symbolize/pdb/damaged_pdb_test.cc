// What is read of a PDB, whole and with a byte changed anywhere: names, lines and what is said of
// the damage.
//
// damaged_pdb.txt has a line for each file and place.
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "support/known_lines.h"
#include "support/source_folder.h"
#include "symbolize/name_collector.h"
#include "symbolize/names_codec.h"
#include "symbolize/pdb/pdb_reader.h"

namespace stackpack::test {
namespace {

std::vector<std::byte> stored(const std::string& path) {
  std::ifstream in(source_folder() + '/' + path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

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

using Reading = std::string (*)(std::span<const std::byte>);

// Places where files say where things are come first, and are closer to each other.
std::set<std::size_t> places_of(std::size_t size) {
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < 200; ++i) {
    places.insert(i < size ? i : 0);
    places.insert(size * i / 200);
  }
  return places;
}

void list(const std::string& path, Reading read, std::string& lines) {
  std::vector<std::byte> data = stored(path);
  REQUIRE(!data.empty());
  lines += path + " whole " + digest_of(read(data)) + '\n';
  for (const std::size_t place : places_of(data.size())) {
    const std::byte before = data[place];
    std::string answers;
    for (const unsigned flipped : {0x01U, 0x40U, 0xFFU}) {
      data[place] = before ^ static_cast<std::byte>(flipped);
      answers += read(data) + '\n';
    }
    data[place] = before;
    answers += read(std::span(data).first(place));
    lines += path + ' ' + std::to_string(place) + ' ' + digest_of(answers) + '\n';
  }
}

TEST_SUITE("damaged PDBs") {
  TEST_CASE("a PDB with a byte changed gives the names that it gave") {
    std::string lines;
    list("testdata/symbols/inlined.pdb", names_of_pdb, lines);
    check_known_lines(lines, "tests/symbolize/pdb/damaged_pdb.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
