// .nettrace and .netperf files: whatever the bytes, reading ends well, every byte is accounted for,
// and it gives the same twice.
#include <map>
#include <span>
#include <string>

#include "formats/nettrace/nettrace_source.h"
#include "formats/nettrace/trace_header.h"
#include "fuzz/require.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

namespace {

std::map<std::string, std::uint64_t> listing_of_trace(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  const auto account = nettrace::read_capture(*source, sink, {.control = {}, .source_stays = true});
  if (account) {
    require(account->total == data.size() && account->balanced());
    const Status named = sink.system_facts.functions().finish(
        sink.system_facts.finish(), [](const capture::RecordedFunction&) { return true; },
        [](const capture::RecordedFunction&) -> Status { return {}; });
    require(named.has_value());
  }
  return sink.listing();
}

}  // namespace

void nettrace_file(std::span<const std::byte> data) {
  nettrace::probe({data});
  require(listing_of_trace(data) == listing_of_trace(data));
}

}  // namespace stackpack::fuzz
