// PDBs: whatever the bytes, reading ends well, and rows are about the addresses that were asked
// for.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/require.h"
#include "io/byte_source.h"
#include "symbolize/name_collector.h"
#include "symbolize/pdb/pdb_reader.h"

namespace stackpack::fuzz {

namespace {

void check_pdb_range(const CodeRange& row, std::span<const std::uint64_t> addresses) {
  require(row.owner == FunctionOwner::kImage && row.size != 0);
  const auto first = std::lower_bound(addresses.begin(), addresses.end(), row.start);
  require(first != addresses.end() && *first - row.start < row.size);
}

}  // namespace

void symbol_pdb(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  const Result<symbolize::PdbReader> pdb = symbolize::PdbReader::open(*source);
  if (!pdb) {
    return;
  }
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; address < 0x3000; address += 24) {
    addresses.push_back(address);
  }
  addresses.push_back(0xFFFF'FFFF);
  addresses.push_back(0x1'0000'0000);
  symbolize::SymbolRequest request;
  request.addresses = addresses;
  request.limits.rows = 10'000;
  symbolize::NameCollector collector;
  const auto damage = pdb->name(request, collector);
  require(damage.has_value() || damage.error().code == ErrorCode::kLimit);
  const Names names = std::move(collector).finish();
  for (const Function& row : names.functions) {
    check_pdb_range(row, addresses);
    require(row.name < names.texts.size());
  }
  for (const CodeLine& row : names.lines) {
    check_pdb_range(row, addresses);
    require(row.inlined == kNoInline || row.inlined < names.inlined.size());
  }
}

}  // namespace stackpack::fuzz
