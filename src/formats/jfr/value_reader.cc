#include "formats/jfr/value_reader.h"

namespace stackpack::jfr {

namespace {

// Of values in values. The JDK's own go three levels deep.
constexpr unsigned kMostDepth = 16;

}  // namespace

void ValueRow::clear() {
  numbers.fill(0);
  text_keys.fill(0);
  for (std::string& text : texts) {
    text.clear();
  }
  frames.clear();
}

bool ValueReader::read(const Type& type, bytes::ByteCursor& in, ValueRow& row) const {
  row.clear();
  bool cut = false;
  if (type.is_text) {
    constexpr auto kAt = static_cast<std::size_t>(Slot::kString);
    row.text_keys[kAt] = coding_.read_text(in, row.texts[kAt]);
    return cut;
  }
  if (!type.members.empty()) {
    read_members(type, in, &row, 0, cut);
  }
  return cut;
}

// Without a row the members are passed over. Types have members, so that each level takes bytes.
void ValueReader::read_members(const Type& type, bytes::ByteCursor& in, ValueRow* row,
                               unsigned depth, bool& cut) const {
  if (depth >= kMostDepth || type.members.empty()) {
    in.skip(in.remaining() + 1);
  }
  for (const Member& member : type.members) {
    if (!in.ok()) {
      return;
    }
    if (!member.is_array) {
      read_member(member, in, row, depth, cut);
      continue;
    }
    const std::uint64_t count = coding_.read_int(in);
    if (row != nullptr && member.slot == Slot::kFrames && member.coding == Coding::kValue) {
      read_frames(types_.at(member.index), count, in, *row, depth + 1, cut);
      continue;
    }
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
      read_member(member, in, nullptr, depth, cut);
    }
  }
}

void ValueReader::read_frames(const Type& type, std::uint64_t count, bytes::ByteCursor& in,
                              ValueRow& row, unsigned depth, bool& cut) const {
  ValueRow frame;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    if (row.frames.size() == kMostFrames) {
      cut = true;
      read_members(type, in, nullptr, depth, cut);
      continue;
    }
    frame.numbers.fill(0);
    read_members(type, in, &frame, depth, cut);
    row.frames.push_back(
        {frame.number(Slot::kMethod), static_cast<std::uint32_t>(frame.number(Slot::kLineNumber))});
  }
}

std::uint64_t ValueReader::read_number(const Member& member, bytes::ByteCursor& in) const {
  switch (member.coding) {
    case Coding::kByte:
      return in.read<std::uint8_t>();
    case Coding::kShort:
      return coding_.read_short(in);
    case Coding::kInt:
      return coding_.read_int(in);
    case Coding::kFour:
      in.skip(4);
      return 0;
    case Coding::kEight:
      in.skip(8);
      return 0;
    default:
      return coding_.read_long(in);
  }
}

void ValueReader::read_member(const Member& member, bytes::ByteCursor& in, ValueRow* row,
                              unsigned depth, bool& cut) const {
  const bool wanted = row != nullptr && member.slot != Slot::kNone;
  const auto slot = static_cast<std::size_t>(member.slot);
  if (member.coding == Coding::kValue) {
    read_members(types_.at(member.index), in, nullptr, depth + 1, cut);
  } else if (member.coding == Coding::kText) {
    std::string text;
    const std::uint64_t key = coding_.read_text(in, text);
    if (wanted) {
      row->texts[slot] = std::move(text);
      row->text_keys[slot] = key;
    }
  } else {
    const std::uint64_t number = read_number(member, in);
    if (wanted) {
      row->numbers[slot] = number;
    }
  }
}

}  // namespace stackpack::jfr
