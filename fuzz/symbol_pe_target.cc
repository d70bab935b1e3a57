// PE files: whatever the bytes, reading ends well, and rows are about the addresses asked for.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/require.h"
#include "io/byte_source.h"
#include "symbolize/name_collector.h"
#include "symbolize/windows/pe_image.h"
#include "symbolize/windows/ready_to_run.h"

namespace stackpack::fuzz {

namespace {

using Read = Status (*)(io::ByteSource&, const symbolize::PeImage&, const symbolize::SymbolRequest&,
                        symbolize::NameCollector&);

void require_good_rows(io::ByteSource& file, const symbolize::PeImage& image, Read read_names) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; address < 0x4000; address += 20) {
    addresses.push_back(address);
  }
  symbolize::SymbolRequest request;
  request.addresses = addresses;
  symbolize::NameCollector collector;
  const Status read = read_names(file, image, request, collector);
  const Names names = std::move(collector).finish();
  require(read.has_value() || names.functions.empty());
  for (const Function& row : names.functions) {
    const auto first = std::lower_bound(addresses.begin(), addresses.end(), row.start);
    require(row.size != 0 && first != addresses.end() && *first - row.start < row.size);
    require(row.name < names.texts.size());
  }
}

}  // namespace

void symbol_pe(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  const Result<symbolize::PeImage> image = symbolize::read_pe_image(*source);
  if (!image) {
    return;
  }
  require_good_rows(*source, *image, &symbolize::read_pe_exports);
  require_good_rows(*source, *image, &symbolize::read_precompiled_methods);
}

}  // namespace stackpack::fuzz
