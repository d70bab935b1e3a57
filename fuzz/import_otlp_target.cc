// OpenTelemetry profiles, protobuf and JSON: whatever the bytes, reading ends well; what it does
// not understand is counted; and it gives the same twice.
#include <cstdlib>
#include <span>

#include "formats/otlp/otlp_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

// Values of samples, by kind and fields; each has a kind that is there, and texts likewise.
void add_values(test::CollectingSink& sink, std::map<std::string, std::uint64_t>& listing) {
  const std::vector<ValueSchema> kinds = sink.value_recorder.kinds();
  std::uint64_t values = 0;
  const Status read =
      sink.value_recorder.finish(sink.counters, [&](const capture::FoundValue& value) -> Status {
        if (value.kind >= kinds.size() || kinds[value.kind].fields.empty()) {
          std::abort();
        }
        std::string line = kinds[value.kind].name;
        for (std::size_t i = 0; i < kinds[value.kind].fields.size(); ++i) {
          line += " " + kinds[value.kind].fields[i].name + "=" + std::to_string(value.values[i]);
        }
        ++listing[line];
        ++values;
        return {};
      });
  // Each sample has one value of each kind that it uses.
  if (!read || values > sink.rows.size() * capture::ValueRecorder::kMostOwnKinds) {
    std::abort();
  }
}

std::map<std::string, std::uint64_t> otlp_listing_of(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  sink.keeps_values = true;
  otlp::ReadOptions options;
  options.max_sample_bytes = 1 << 16;
  options.max_table_bytes = 1 << 22;
  options.max_json_bytes = 1 << 20;
  const auto account = otlp::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
  std::map<std::string, std::uint64_t> listing = sink.listing();
  add_values(sink, listing);
  return listing;
}

}  // namespace

void import_otlp(std::span<const std::byte> data) {
  otlp::probe({data});
  if (otlp_listing_of(data) != otlp_listing_of(data)) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
