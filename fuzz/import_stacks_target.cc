// Callstacks of several lines: whatever the bytes, reading ends well and every byte is accounted
// for.
#include <cstdlib>
#include <span>

#include "formats/stacks/stacks_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

void import_stacks(std::span<const std::byte> data) {
  stacks::probe({data, true});
  const auto source = io::source_of_memory(data);
  test::CollectingSink sink;
  stacks::ReadOptions options;
  options.max_line_bytes = 4096;
  const auto account = stacks::read_capture(*source, sink, options);
  if (account && (account->total != data.size() || !account->balanced())) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
