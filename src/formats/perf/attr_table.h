// Which attribute a record belongs to.
//
// With one attribute: that one. With several, records carry an event id at a place that all
// attributes agree upon (the perf tool refuses a capture where they do not): counted from the start
// of a SAMPLE, from the end of other kernel records. Id 0 marks a record that the perf tool made
// itself, which follows the first attribute. Without any id, a capture can be read only if all
// attributes give their samples the same fields; guessing otherwise would invent stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes/byte_cursor.h"
#include "core/number_table.h"
#include "formats/perf/attr.h"
#include "formats/perf/sample.h"

namespace stackpack::perf {

/// Event id to attribute index. Id 0 means "no id" and is never stored.
class IdMap {
 public:
  /// Maps `id` to `index`; a later one replaces an earlier one. Id 0 is ignored.
  void insert(std::uint64_t id, std::uint32_t index) {
    if (id == 0) {
      return;
    }
    const std::uint32_t number = ids_.number(id);
    if (number == indexes_.size()) {
      indexes_.push_back(index);
    } else {
      indexes_[number] = index;
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t id) const {
    const std::uint32_t number = ids_.find(id);
    return number == decltype(ids_)::kNone ? std::nullopt : std::optional(indexes_[number]);
  }

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] bool empty() const { return ids_.empty(); }

 private:
  core::NumberTable<std::uint64_t> ids_;
  std::vector<std::uint32_t> indexes_;
};

class AttrTable {
 public:
  struct Row {
    Attr attr;
    SampleLayout layout;
    std::uint32_t event = 0;     ///< index in the event table of the sink
    std::uint64_t not_kept = 0;  ///< fields of its samples, see fields_not_kept()
    std::uint64_t period = 1;    ///< what each sample stands for, see Attr::fixed_period()
  };

  /// Bounds of what a hostile input can make us keep.
  static constexpr std::size_t kMaxRows = std::size_t{1} << 16;
  static constexpr std::size_t kMaxIds = std::size_t{1} << 20;

  /// Appends an attribute and returns its index, or nothing when there are too many.
  std::optional<std::uint32_t> add(const Attr& attr, std::uint32_t event);

  /// Gives attribute `index` one more id. False: there are too many.
  bool add_id(std::uint32_t index, std::uint64_t id);

  /// Ids of some attribute are missing: records with an id are never given to an attribute by
  /// guess.
  void forbid_guessing() { may_guess_ = false; }

  /// The attribute of a SAMPLE with this payload; null when none is known.
  [[nodiscard]] const Row* of_sample(const bytes::ByteCursor& payload) const {
    return rows_.size() == 1 ? rows_.data() : by_id_from_start(payload);
  }

  /// The attribute of another kernel record; null when none is known.
  [[nodiscard]] const Row* of_other(const bytes::ByteCursor& payload) const;

  [[nodiscard]] std::optional<std::uint32_t> row_of_id(std::uint64_t id) const {
    return ids_.find(id);
  }
  /// Ids that can still be added. Repeated ones count: a hostile file can name one array of ids for
  /// every attribute.
  [[nodiscard]] std::size_t room_for_ids() const { return kMaxIds - ids_added_; }
  [[nodiscard]] bool has_ids() const { return !ids_.empty(); }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// Whether the records of no attribute have a time.
  [[nodiscard]] bool without_times() const { return !has_times_; }
  /// Which of rows() it is.
  [[nodiscard]] std::size_t number_of(const Row& row) const {
    return static_cast<std::size_t>(&row - rows_.data());
  }

 private:
  [[nodiscard]] const Row* by_id_from_start(const bytes::ByteCursor& payload) const;
  [[nodiscard]] const Row* by_id(std::uint64_t id) const;
  [[nodiscard]] const Row* without_id() const;

  std::vector<Row> rows_;
  IdMap ids_;
  std::size_t ids_added_ = 0;
  bool same_layout_ = true;
  bool has_times_ = false;
  bool may_guess_ = true;
  std::optional<std::uint32_t> id_from_start_;  // in words, by the first attribute
  std::optional<std::uint32_t> id_from_end_;
};

}  // namespace stackpack::perf
