#include "bytes/label_bytes.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"

namespace stackpack::bytes {

namespace {

void write_short_text(std::string_view text, ByteWriter& out) {
  out.write_varint(text.size());
  out.write_text(text);
}

std::string label_bytes(const Label& label) {
  ByteWriter out;
  write_short_text(label.key, out);
  out.write(static_cast<std::uint8_t>(label.type));
  switch (label.type) {
    case LabelType::kText:
      write_short_text(label.text, out);
      break;
    case LabelType::kInteger:
      out.write_varint(zigzag_encode(static_cast<std::int64_t>(label.number)));
      write_short_text(label.unit, out);
      break;
    case LabelType::kReal:
      out.write(label.number);
      break;
    case LabelType::kBool:
      out.write(static_cast<std::uint8_t>(label.number != 0 ? 1 : 0));
      break;
  }
  return std::string(text_of(out.bytes()));
}

bool cut_to(std::size_t most, std::string& text) {
  const bool cuts = text.size() > most;
  text.resize(std::min(text.size(), most));
  return cuts;
}

bool read_text(ByteCursor& in, std::size_t most, std::string& text) {
  const std::uint64_t size = in.read_varint();
  if (size > most) {
    return false;
  }
  text = text_of(in.read_bytes(size));
  return in.ok();
}

bool read_label(ByteCursor& in, Label& label) {
  if (!read_text(in, kMaxLabelKeyBytes, label.key)) {
    return false;
  }
  const auto type = in.read<std::uint8_t>();
  label.type = static_cast<LabelType>(type);
  switch (label.type) {
    case LabelType::kText:
      return read_text(in, kMaxLabelTextBytes, label.text);
    case LabelType::kInteger:
      label.number = static_cast<std::uint64_t>(zigzag_decode(in.read_varint()));
      return read_text(in, kMaxLabelKeyBytes, label.unit);
    case LabelType::kReal:
      label.number = in.read<std::uint64_t>();
      return in.ok();
    case LabelType::kBool:
      label.number = in.read<std::uint8_t>();
      return in.ok() && label.number <= 1;
  }
  return false;
}

}  // namespace

std::size_t write_labels(LabelSet& labels, std::string& out) {
  std::size_t changed = 0;
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Label& label = labels[i];
    const bool key = cut_to(kMaxLabelKeyBytes, label.key);
    const bool unit = cut_to(kMaxLabelKeyBytes, label.unit);
    const bool text = cut_to(kMaxLabelTextBytes, label.text);
    changed += key || unit || text ? 1U : 0U;
    order.emplace_back(label_bytes(label), i);
  }
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; }),
              order.end());
  if (order.size() > kMaxLabels) {
    changed += order.size() - kMaxLabels;
    order.resize(kMaxLabels);
  }
  out.clear();
  LabelSet sorted;
  for (const auto& [label, place] : order) {
    out += label;
    sorted.push_back(std::move(labels[place]));
  }
  labels = std::move(sorted);
  return changed;
}

bool read_labels(ByteCursor in, LabelSet& labels) {
  labels.clear();
  std::string_view before;
  const std::string_view all = text_of(in.rest());
  while (in.remaining() != 0) {
    const std::size_t begin = all.size() - in.remaining();
    if (labels.size() == kMaxLabels || !read_label(in, labels.emplace_back())) {
      return false;
    }
    const std::string_view label = all.substr(begin, all.size() - in.remaining() - begin);
    // Varints of more bytes than they need would make equal sets differ.
    if (before >= label || label_bytes(labels.back()) != label) {
      return false;
    }
    before = label;
  }
  return in.ok() && !labels.empty();
}

}  // namespace stackpack::bytes
