// Text of perf script: whatever the bytes, reading ends well and every byte is accounted for.
#include <cstdlib>
#include <span>

#include "formats/perf_script/perf_script_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

void import_perf_script(std::span<const std::byte> data) {
  perf_script::probe({data});
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  perf_script::ReadOptions options;
  options.max_line_bytes = 4096;
  const auto account = perf_script::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
