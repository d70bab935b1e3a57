#include "spk/format/value_codec.h"

#include <algorithm>
#include <string_view>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

static_assert(kMaxValueFields == kMostValueFields);

using Numbers = std::vector<std::uint64_t>;

Error damaged_values() {
  return {ErrorCode::kCorrupt, kNoOffset, "spk: event values: a row that cannot be"};
}

void write_short_text(std::string_view text, BlockContent& content) {
  content.bytes().write_varint(text.size());
  content.bytes().write_text(text);
}

// A text of at most `most` bytes; false when it is longer or cut.
bool read_short_text(bytes::ByteCursor& in, std::uint64_t most, std::string& text) {
  const std::uint64_t size = read_varint(in);
  if (!in.ok() || size > most) {
    return false;
  }
  const std::span<const std::byte> bytes = in.read_bytes(size);
  text.clear();
  for (const std::byte byte : bytes) {
    text += static_cast<char>(byte);
  }
  return in.ok();
}

// A column of 32-bit numbers, each added to the one before modulo 2^32.
template <typename Set>
bool read_steps(bytes::ByteCursor& in, std::size_t count, const Set& set) {
  Numbers steps;
  read_column(in, count, steps);
  if (!in.ok()) {
    return false;
  }
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (steps[i] > kMax32) {
      return false;
    }
    value += static_cast<std::uint32_t>(steps[i]);
    set(i, value);
  }
  return true;
}

bool read_value_times(bytes::ByteCursor& in, std::vector<EventValue>& rows) {
  std::uint64_t time = read_varint(in);
  Numbers steps;
  read_column(in, rows.size(), steps);
  if (!in.ok()) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!bytes::checked_add(time, steps[i], time)) {
      return false;
    }
    rows[i].time_ns = time;
  }
  return true;
}

// The kinds, and the callstacks.
bool read_references(bytes::ByteCursor& in, const ValueBounds& bounds,
                     std::vector<EventValue>& rows) {
  Numbers kinds;
  Numbers stacks;
  read_column(in, rows.size(), kinds);
  read_column(in, rows.size(), stacks);
  if (!in.ok()) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kinds[i] >= bounds.kinds.size() || stacks[i] > bounds.stacks) {
      return false;
    }
    rows[i].kind = static_cast<std::uint32_t>(kinds[i]);
    rows[i].stack = stacks[i] == 0 ? kNoStack : static_cast<StackId>(stacks[i] - 1);
  }
  return true;
}

// Positions of the rows of each kind, in their order.
std::vector<std::vector<std::size_t>> rows_by_kind(std::span<const EventValue> rows,
                                                   std::size_t kinds) {
  std::vector<std::vector<std::size_t>> positions(kinds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    positions[rows[i].kind].push_back(i);
  }
  return positions;
}

bool read_fields(bytes::ByteCursor& in, const ValueBounds& bounds, std::vector<EventValue>& rows) {
  const auto by_kind = rows_by_kind(rows, bounds.kinds.size());
  Numbers column;
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    const std::vector<std::size_t>& of_kind = by_kind[kind];
    const std::vector<ValueField>& fields = bounds.kinds[kind].fields;
    for (std::size_t field = 0; field < fields.size() && !of_kind.empty(); ++field) {
      read_column(in, of_kind.size(), column);
      if (!in.ok()) {
        return false;
      }
      const bool text = fields[field].type == ValueType::kText;
      for (std::size_t i = 0; i < of_kind.size(); ++i) {
        // Of numbers the largest of all, which stands for none, is stored as 0.
        if (text && column[i] >= bounds.texts) {
          return false;
        }
        rows[of_kind[i]].values[field] = text ? column[i] : column[i] - 1;
      }
    }
  }
  return true;
}

}  // namespace

bool is_within(const EventValue& row, const ValueBounds& bounds) {
  return row.kind < bounds.kinds.size() && (row.stack == kNoStack || row.stack < bounds.stacks);
}

void encode_values(std::span<const EventValue> rows, std::span<const ValueSchema> kinds,
                   BlockContent& content) {
  Numbers tids(rows.size());
  Numbers pids(rows.size());
  Numbers times(rows.size());
  Numbers kind_column(rows.size());
  Numbers stacks(rows.size());
  content.bytes().write_varint(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EventValue& row = rows[i];
    tids[i] = row.tid - (i == 0 ? 0 : rows[i - 1].tid);  // modulo 2^32
    pids[i] = row.pid - (i == 0 ? 0 : rows[i - 1].pid);
    times[i] = i == 0 ? 0 : row.time_ns - rows[i - 1].time_ns;
    kind_column[i] = row.kind;
    stacks[i] = row.stack == kNoStack ? 0 : std::uint64_t{row.stack} + 1;
  }
  write_column(tids, content);
  write_column(pids, content);
  content.bytes().write_varint(rows.empty() ? 0 : rows.front().time_ns);
  write_numbers(times, content);
  content.cut();
  write_column(kind_column, content);
  content.cut();
  write_numbers(stacks, content);
  content.cut();
  const auto by_kind = rows_by_kind(rows, kinds.size());
  Numbers column;
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    for (std::size_t field = 0; field < kinds[kind].fields.size(); ++field) {
      if (by_kind[kind].empty()) {
        continue;
      }
      const bool text = kinds[kind].fields[field].type == ValueType::kText;
      column.resize(by_kind[kind].size());
      std::transform(by_kind[kind].begin(), by_kind[kind].end(), column.begin(),
                     [&rows, field, text](std::size_t i) {
                       return rows[i].values[field] + (text ? 0U : 1U);  // modulo 2^64
                     });
      write_numbers(column, content);
      content.cut();
    }
  }
}

Status decode_values(bytes::ByteCursor in, const ValueBounds& bounds,
                     std::vector<EventValue>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kValuesPerBlock) {
    return damaged_values();
  }
  rows.assign(static_cast<std::size_t>(count), EventValue());
  const bool good = read_steps(in, rows.size(),
                               [&rows](std::size_t i, std::uint32_t tid) { rows[i].tid = tid; }) &&
                    read_steps(in, rows.size(),
                               [&rows](std::size_t i, std::uint32_t pid) { rows[i].pid = pid; }) &&
                    read_value_times(in, rows) && read_references(in, bounds, rows) &&
                    read_fields(in, bounds, rows) && in.remaining() == 0;
  return good ? Status{} : Status{damaged_values()};
}

void encode_value_kinds(std::span<const ValueSchema> kinds, BlockContent& content) {
  content.bytes().write_varint(kinds.size());
  for (const ValueSchema& kind : kinds) {
    write_short_text(kind.name, content);
    content.bytes().write_varint(kind.fields.size());
    for (const ValueField& field : kind.fields) {
      write_short_text(field.name, content);
      content.bytes().write_varint(static_cast<std::uint64_t>(field.type));
    }
  }
}

Status decode_value_kinds(bytes::ByteCursor in, std::vector<ValueSchema>& kinds) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count > kMaxValueKinds) {
    return damaged_values();
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    ValueSchema& kind = kinds.emplace_back();
    const bool named = read_short_text(in, kMaxValueNameBytes, kind.name);
    const std::uint64_t fields = read_varint(in);
    if (!named || !in.ok() || fields > kMaxValueFields) {
      return damaged_values();
    }
    for (std::uint64_t f = 0; f < fields; ++f) {
      ValueField& field = kind.fields.emplace_back();
      const bool read = read_short_text(in, kMaxValueNameBytes, field.name);
      const std::uint64_t type = read_varint(in);
      if (!read || !in.ok() || type >= kValueTypeCount) {
        return damaged_values();
      }
      field.type = static_cast<ValueType>(type);
    }
  }
  return in.remaining() == 0 ? Status{} : Status{damaged_values()};
}

void encode_value_texts(std::span<const std::string> texts, BlockContent& content) {
  content.bytes().write_varint(texts.size());
  for (const std::string& text : texts) {
    write_short_text(text, content);
  }
}

Status decode_value_texts(bytes::ByteCursor in, std::vector<std::string>& texts) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kRowsPerTableBlock) {
    return damaged_values();
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!read_short_text(in, kMaxNameBytes, texts.emplace_back())) {
      return damaged_values();
    }
  }
  return in.remaining() == 0 ? Status{} : Status{damaged_values()};
}

}  // namespace stackpack::spk
