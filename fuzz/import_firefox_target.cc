// Files of the Firefox Profiler: whatever the bytes, reading ends well; what it does
// not understand is counted; and it gives the same twice.
#include <cstdlib>
#include <span>

#include "formats/firefox/firefox_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

std::map<std::string, std::uint64_t> firefox_listing_of(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  firefox::ReadOptions options;
  options.max_bytes = 1 << 22;
  const auto account = firefox::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
  return sink.listing();
}

}  // namespace

void import_firefox(std::span<const std::byte> data) {
  firefox::probe({data});
  if (firefox_listing_of(data) != firefox_listing_of(data)) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
