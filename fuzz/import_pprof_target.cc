// profile.proto, plain or compressed: whatever the bytes, reading ends well; what it does not
// understand is counted; and it gives the same twice.
#include <cstdlib>
#include <span>

#include "formats/pprof/pprof_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

std::map<std::string, std::uint64_t> listing_of(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  pprof::ReadOptions options;
  options.max_message_bytes = 1 << 16;
  options.max_table_bytes = 1 << 22;
  const auto account = pprof::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
  return sink.listing();
}

}  // namespace

void import_pprof(std::span<const std::byte> data) {
  pprof::probe({data});
  if (listing_of(data) != listing_of(data)) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
