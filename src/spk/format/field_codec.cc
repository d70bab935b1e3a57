#include "spk/format/field_codec.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "bytes/byte_writer.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

using Column = std::vector<std::uint64_t>;

// Forms of a column of values.
constexpr std::uint8_t kPlainValues = 0;
constexpr std::uint8_t kDifferentValues = 1;  // from the value before
constexpr std::uint8_t kListedValues = 2;     // numbers in a list of distinct ones

constexpr std::size_t kMostListed = 256;

Error damaged_fields() {
  return {ErrorCode::kCorrupt, kNoOffset, "spk: sample fields: a row that cannot be"};
}

// The distinct values, ascending; none when there are more than kMostListed.
Column distinct_values(const Column& values) {
  Column distinct;
  for (const std::uint64_t value : values) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), value);
    if (at != distinct.end() && *at == value) {
      continue;
    }
    if (distinct.size() == kMostListed) {
      return {};
    }
    distinct.insert(at, value);
  }
  return distinct;
}

void write_listed(const Column& values, const Column& list, BlockContent& content) {
  content.bytes().write_varint(list.size());
  std::uint64_t before = 0;
  for (const std::uint64_t value : list) {
    content.bytes().write_varint(value - before);
    before = value;
  }
  Column codes;
  codes.reserve(values.size());
  for (const std::uint64_t value : values) {
    const auto at = std::lower_bound(list.begin(), list.end(), value);
    codes.push_back(static_cast<std::uint64_t>(at - list.begin()));
  }
  write_column(codes, content);
}

void write_values(const Column& values, BlockContent& content) {
  constexpr std::size_t kRowsPerListed = 4;
  if (const Column list = distinct_values(values);
      !list.empty() && (list.size() == 1 || list.size() * kRowsPerListed <= values.size())) {
    content.bytes().write(kListedValues);
    write_listed(values, list, content);
    return;
  }
  Column steps;
  steps.reserve(values.size());
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    steps.push_back(bytes::zigzag_encode(static_cast<std::int64_t>(value - before)));
    before = value;
  }
  const NumberForm plain = choose_form(values);
  const NumberForm stepped = choose_form(steps);
  const bool steps_are_smaller = stepped.bits < plain.bits;
  content.bytes().write(steps_are_smaller ? kDifferentValues : kPlainValues);
  write_numbers(steps_are_smaller ? steps : values, steps_are_smaller ? stepped : plain, content);
}

bool read_listed(bytes::ByteCursor& in, std::size_t count, Column& values) {
  const std::uint64_t size = read_varint(in);
  if (!in.ok() || size == 0 || size > kMostListed) {
    return false;
  }
  Column list;
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t step = read_varint(in);
    if ((i != 0 && step == 0) || !bytes::checked_add(value, step, value)) {
      return false;
    }
    list.push_back(value);
  }
  read_column(in, count, values);
  if (values.size() != count) {
    return false;
  }
  for (std::uint64_t& code : values) {
    if (code >= list.size()) {
      return false;
    }
    code = list[static_cast<std::size_t>(code)];
  }
  return in.ok();
}

// Fills `values` with `count` of them.
bool read_values(bytes::ByteCursor& in, std::size_t count, Column& values) {
  const auto form = in.read<std::uint8_t>();
  if (!in.ok() || form > kListedValues) {
    return false;
  }
  if (form == kListedValues) {
    return read_listed(in, count, values);
  }
  read_column(in, count, values);
  if (values.size() != count) {
    return false;
  }
  if (form == kDifferentValues) {
    std::uint64_t value = 0;
    for (std::uint64_t& step : values) {
      value += static_cast<std::uint64_t>(bytes::zigzag_decode(step));
      step = value;
    }
  }
  return in.ok();
}

// Numbers of samples, and which fields there are.
bool read_keys(bytes::ByteCursor& in, std::uint64_t samples, std::vector<FieldRow>& rows) {
  std::uint64_t sample = read_varint(in);
  Column column;
  read_column(in, rows.size(), column);
  if (!in.ok() || column.size() != rows.size()) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!bytes::checked_add(sample, column[i], sample) ||
        (i != 0 && !bytes::checked_add(sample, std::uint64_t{1}, sample)) || sample >= samples) {
      return false;
    }
    rows[i].sample = sample;
  }
  read_column(in, rows.size(), column);
  if (!in.ok() || column.size() != rows.size()) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (column[i] > kMax32) {
      return false;
    }
    rows[i].present = static_cast<std::uint32_t>(column[i]);
  }
  return true;
}

}  // namespace

void encode_fields(std::span<const FieldRow> rows, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  content.bytes().write_varint(rows.empty() ? 0 : rows.front().sample);
  Column column;
  std::uint64_t next = rows.empty() ? 0 : rows.front().sample;
  std::uint32_t any = 0;
  for (const FieldRow& row : rows) {
    column.push_back(row.sample - next);
    next = row.sample + 1;
    any |= row.present;
  }
  write_column(column, content);
  column.clear();
  for (const FieldRow& row : rows) {
    column.push_back(row.present);
  }
  write_column(column, content);
  for (std::size_t field = 0; field < kSampleFieldCount; ++field) {
    if ((any >> field & 1U) == 0) {
      continue;
    }
    content.cut();
    column.clear();
    for (const FieldRow& row : rows) {
      if ((row.present >> field & 1U) != 0) {
        column.push_back(row.values[field]);
      }
    }
    write_values(column, content);
  }
}

Status decode_fields(bytes::ByteCursor in, std::uint64_t samples, std::vector<FieldRow>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kFieldRowsPerBlock) {
    return damaged_fields();
  }
  rows.assign(static_cast<std::size_t>(count), FieldRow());
  if (!read_keys(in, samples, rows)) {
    return damaged_fields();
  }
  std::uint32_t any = 0;
  for (const FieldRow& row : rows) {
    any |= row.present;
  }
  Column column;
  for (unsigned field = 0; field < kMaxSampleFields; ++field) {
    const auto has = [field](const FieldRow& row) { return (row.present >> field & 1U) != 0; };
    if ((any >> field & 1U) == 0) {
      continue;
    }
    const auto with = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), has));
    if (!read_values(in, with, column)) {
      return damaged_fields();
    }
    std::size_t next = 0;
    for (FieldRow& row : rows) {
      if (field < kSampleFieldCount && has(row)) {
        row.values[field] = column[next++];
      }
    }
  }
  for (FieldRow& row : rows) {
    row.present &= (1U << kSampleFieldCount) - 1;
  }
  return in.remaining() == 0 ? Status{} : Status{damaged_fields()};
}

}  // namespace stackpack::spk
