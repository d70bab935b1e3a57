#include "spk/format/label_codec.h"

#include "bytes/label_bytes.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

Error damaged_labels() {
  return {ErrorCode::kCorrupt, kNoOffset, "spk: label sets: a row that cannot be"};
}

}  // namespace

void encode_label_sets(std::span<const std::string> sets, BlockContent& content) {
  content.bytes().write_varint(sets.size());
  std::vector<std::uint64_t> sizes;
  for (const std::string& set : sets) {
    sizes.push_back(set.size());
  }
  write_column(sizes, content);
  content.cut();
  for (const std::string& set : sets) {
    content.bytes().write_text(set);
  }
}

Status decode_label_sets(bytes::ByteCursor in, std::vector<LabelSet>& sets) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kRowsPerTableBlock) {
    return damaged_labels();
  }
  std::vector<std::uint64_t> sizes;
  read_column(in, static_cast<std::size_t>(count), sizes);
  if (!in.ok() || sizes.size() != count) {
    return damaged_labels();
  }
  for (const std::uint64_t size : sizes) {
    const bytes::ByteCursor set = in.sub(size);
    if (!in.ok() || !bytes::read_labels(set, sets.emplace_back())) {
      return damaged_labels();
    }
  }
  return in.remaining() == 0 ? Status{} : Status{damaged_labels()};
}

}  // namespace stackpack::spk
