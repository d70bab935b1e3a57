// OpenTelemetry profiles, protobuf and JSON: whatever the bytes, reading ends well; what it does
// not understand is counted; and it gives the same twice.
#include <cstdlib>
#include <span>

#include "formats/otlp/otlp_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

std::map<std::string, std::uint64_t> otlp_listing_of(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  otlp::ReadOptions options;
  options.max_sample_bytes = 1 << 16;
  options.max_table_bytes = 1 << 22;
  options.max_json_bytes = 1 << 20;
  const auto account = otlp::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
  return sink.listing();
}

}  // namespace

void import_otlp(std::span<const std::byte> data) {
  otlp::looks_like_otlp(data);
  if (otlp_listing_of(data) != otlp_listing_of(data)) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
