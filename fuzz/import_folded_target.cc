// Folded text: whatever the bytes, reading ends well and every byte is accounted for.
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/plain_text.h"
#include "formats/folded/folded_source.h"
#include "support/collecting_sink.h"

namespace stackpack::fuzz {

void import_folded(std::span<const std::byte> data) {
  const std::vector<std::byte> text = codec::plain_text_head(data, codec::text_encoding_of(data));
  folded::probe({text});
  const auto source = io::source_of_memory(text);
  test::CollectingSink sink;
  folded::ReadOptions options;
  options.max_line_bytes = 4096;
  const auto account = folded::read_capture(*source, sink, options);
  if (account && (account->total != text.size() || !account->balanced())) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
