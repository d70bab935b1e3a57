// JFR recordings: whatever the bytes, reading ends well; what it does
// not understand is counted; and it gives the same twice.
#include <cstdlib>
#include <span>

#include "formats/jfr/jfr_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

std::map<std::string, std::uint64_t> jfr_listing_of(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  jfr::ReadOptions options;
  options.max_table_bytes = 1 << 22;
  const auto account = jfr::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
  return sink.listing();
}

}  // namespace

void import_jfr(std::span<const std::byte> data) {
  jfr::probe({data});
  if (jfr_listing_of(data) != jfr_listing_of(data)) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
