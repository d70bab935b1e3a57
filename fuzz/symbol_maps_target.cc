// Lists of code: whatever the bytes, reading ends well, and rows are about what was asked for.
//
// First byte: 0 kallsyms, 1 perf-PID.map, others jitdump, of which the lowest bit asks for births.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/require.h"
#include "io/byte_source.h"
#include "symbolize/maps/jitdump.h"
#include "symbolize/maps/kallsyms.h"
#include "symbolize/maps/perf_map.h"
#include "symbolize/name_collector.h"

namespace stackpack::fuzz {

namespace {

void check_map_range(const CodeRange& row, std::span<const std::uint64_t> addresses) {
  const auto first = std::lower_bound(addresses.begin(), addresses.end(), row.start);
  require(row.size != 0 && first != addresses.end() && *first - row.start < row.size);
}

void read_maps(io::ByteSource& source, unsigned kind, const symbolize::SymbolRequest& request,
               symbolize::NameCollector& names) {
  if (kind == 0) {
    if (const auto symbols = symbolize::Kallsyms::read(source)) {
      symbols->name(request, 0, {}, names);
    }
  } else if (kind == 1) {
    if (const auto map = symbolize::PerfMap::read(source)) {
      map->name(request, {}, names);
    }
  } else if (const auto dump = symbolize::JitDump::read(source, request.addresses)) {
    dump->name(request, {}, kind % 2 != 0, names);
  }
}

}  // namespace

void symbol_maps(std::span<const std::byte> data) {
  if (data.empty()) {
    return;
  }
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; address < 0x1000; address += 12) {
    addresses.push_back(address);
  }
  for (std::uint64_t address = 0xffffffff81000000; address < 0xffffffff81000200; address += 12) {
    addresses.push_back(address);
  }
  symbolize::SymbolRequest request;
  request.addresses = addresses;
  symbolize::NameCollector collector;
  const auto source = io::source_of_memory(data.subspan(1));
  read_maps(*source, std::to_integer<unsigned>(data[0]), request, collector);
  const Names names = std::move(collector).finish();
  for (const Function& row : names.functions) {
    check_map_range(row, addresses);
    require(row.name < names.texts.size());
  }
  for (const CodeLine& row : names.lines) {
    check_map_range(row, addresses);
  }
}

}  // namespace stackpack::fuzz
