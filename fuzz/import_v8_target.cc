// Profiles of V8 and traces of Chrome: whatever the bytes, reading ends well; what it does
// not understand is counted; and it gives the same twice.
#include <cstdlib>
#include <span>

#include "formats/v8/v8_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

std::map<std::string, std::uint64_t> v8_listing_of(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  v8::ReadOptions options;
  options.max_bytes = 1 << 22;
  const auto account = v8::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
  return sink.listing();
}

}  // namespace

void import_v8(std::span<const std::byte> data) {
  v8::probe({data});
  if (v8_listing_of(data) != v8_listing_of(data)) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
