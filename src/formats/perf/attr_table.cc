#include "formats/perf/attr_table.h"

#include <bit>

#include "formats/perf/not_kept.h"

namespace stackpack::perf {

namespace {

constexpr std::size_t kIdBytes = 8;

std::uint64_t word_at(bytes::ByteCursor payload, std::size_t position) {
  payload.seek(position);
  return payload.read<std::uint64_t>();
}

}  // namespace

std::optional<std::uint32_t> AttrTable::add(const Attr& attr, std::uint32_t event) {
  if (rows_.size() >= kMaxRows) {
    return std::nullopt;
  }
  const SampleLayout layout = layout_of(attr);
  if (rows_.empty()) {
    if (attr.samples(sample_bit::kIdentifier)) {
      id_from_start_ = 0;
      id_from_end_ = 1;
    } else if (attr.samples(sample_bit::kId)) {
      id_from_start_ = static_cast<std::uint32_t>(
          std::popcount(attr.sample_type & (sample_bit::kIp | sample_bit::kTid | sample_bit::kTime |
                                            sample_bit::kAddr)));
      id_from_end_ = 1 + static_cast<std::uint32_t>(std::popcount(
                             attr.sample_type & (sample_bit::kStreamId | sample_bit::kCpu)));
    }
  } else {
    same_layout_ = same_layout_ && layout == rows_.front().layout;
  }
  has_times_ = has_times_ || attr.samples(sample_bit::kTime);
  rows_.push_back({attr, layout, event, fields_not_kept(attr), attr.fixed_period()});
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

bool AttrTable::add_id(std::uint32_t index, std::uint64_t id) {
  if (ids_added_ >= kMaxIds) {
    return false;
  }
  ++ids_added_;
  ids_.insert(id, index);
  return true;
}

const AttrTable::Row* AttrTable::without_id() const {
  return same_layout_ && may_guess_ ? rows_.data() : nullptr;
}

const AttrTable::Row* AttrTable::by_id(std::uint64_t id) const {
  if (id == 0) {
    return rows_.data();
  }
  if (const std::optional<std::uint32_t> index = ids_.find(id)) {
    return &rows_[*index];
  }
  return ids_.empty() ? without_id() : nullptr;
}

const AttrTable::Row* AttrTable::by_id_from_start(const bytes::ByteCursor& payload) const {
  if (rows_.empty()) {
    return nullptr;
  }
  if (!id_from_start_) {
    return without_id();
  }
  const std::size_t position = *id_from_start_ * kIdBytes;
  return payload.size() < position + kIdBytes ? nullptr : by_id(word_at(payload, position));
}

const AttrTable::Row* AttrTable::of_other(const bytes::ByteCursor& payload) const {
  if (rows_.size() <= 1 || !id_from_end_ || !rows_.front().attr.has_flag(attr_flag::kSampleIdAll)) {
    return rows_.empty() ? nullptr : rows_.data();
  }
  const std::size_t distance = *id_from_end_ * kIdBytes;
  return payload.size() < distance ? nullptr : by_id(word_at(payload, payload.size() - distance));
}

}  // namespace stackpack::perf
