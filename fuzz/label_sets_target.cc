// The section of sets of labels: whatever the bytes, reading ends well, and sets that are good are
// sets still when they are written again.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bytes/label_bytes.h"
#include "fuzz/require.h"
#include "query/selection/label_choice.h"
#include "spk/format/label_codec.h"

namespace stackpack::fuzz {

void label_sets(std::span<const std::byte> data) {
  std::vector<LabelSet> sets;
  if (!spk::decode_label_sets(bytes::ByteCursor(data, 0), sets)) {
    return;
  }
  std::vector<std::string> written;
  for (const LabelSet& labels : sets) {
    require(!labels.empty() && labels.size() <= bytes::kMaxLabels);
    for (const Label& label : labels) {
      require(label.type == LabelType::kText || !query::label_text(label).empty());
    }
    LabelSet sorted = labels;
    require(bytes::write_labels(sorted, written.emplace_back()) == 0);
    require(sorted == labels);
  }
  spk::BlockContent content;
  spk::encode_label_sets(written, content);
  std::vector<std::byte> encoded;
  for (const std::span<const std::byte> part : content.parts()) {
    encoded.insert(encoded.end(), part.begin(), part.end());
  }
  std::vector<LabelSet> again;
  require(spk::decode_label_sets(bytes::ByteCursor(encoded, 0), again).has_value());
  require(again == sets);
}

}  // namespace stackpack::fuzz
