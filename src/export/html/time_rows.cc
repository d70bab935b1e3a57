#include "export/html/time_rows.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/saturating.h"

namespace stackpack::exporting {

namespace {

std::uint64_t hash_of_row(const TimeRow& row) {
  return core::mix_bits((std::uint64_t{row.thread} << 32 | row.node) +
                        std::uint64_t{row.event} * 0x9E37'79B9'7F4A'7C15ULL);
}

}  // namespace

std::uint64_t round_width(std::uint64_t duration_ns, std::uint32_t most_buckets) {
  constexpr std::array<std::uint64_t, 3> kDigits = {1, 2, 5};
  // Nothing above is a time in 64 bits.
  constexpr std::uint64_t kLargest = 10'000'000'000'000'000'000ULL;
  for (std::uint64_t power = 1; power < kLargest; power *= 10) {
    for (const std::uint64_t digit : kDigits) {
      if (duration_ns / (digit * power) < most_buckets) {
        return digit * power;
      }
    }
  }
  return kLargest;
}

std::string width_text(std::uint64_t width_ns) {
  struct Unit {
    std::uint64_t ns = 1;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kUnits = {Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"},
                                          Unit{1'000, "us"}, Unit{1, "ns"}};
  const auto unit = std::find_if(kUnits.begin(), kUnits.end() - 1,
                                 [&](const Unit& some) { return width_ns >= some.ns; });
  return fmt::format("{} {}", width_ns / unit->ns, unit->name);
}

TimeRows::TimeRows(std::uint64_t start_ns, std::uint64_t last_ns, const TimeResolution& resolution,
                   std::size_t limit)
    : resolution_(resolution),
      start_ns_(start_ns),
      width_ns_(round_width(last_ns - start_ns, resolution.most_buckets)),
      buckets_(static_cast<std::uint32_t>((last_ns - start_ns) / width_ns_ + 1)),
      limit_(limit) {}

bool SummedRows::add(const TimeRow& row, std::size_t limit) {
  const auto fresh = static_cast<std::uint32_t>(rows_.size());
  const std::uint32_t at = index_.find_or_insert(
      hash_of_row(row), fresh,
      [&](std::uint32_t i) {
        return rows_[i].node == row.node && rows_[i].thread == row.thread &&
               rows_[i].event == row.event;
      },
      [this](std::uint32_t i) { return hash_of_row(rows_[i]); });
  if (at != fresh) {
    core::add_saturating(rows_[at].count, row.count);
    core::add_saturating(rows_[at].weight, row.weight);
    return true;
  }
  if (rows_.size() == limit) {
    return false;
  }
  rows_.push_back(row);
  return true;
}

void SummedRows::clear() {
  rows_.clear();
  index_.clear();
}

void SummedRows::release() {
  rows_ = {};
  index_.release();
}

void TimeRows::add(std::uint64_t time_ns, const TimeRow& row) {
  if (!fits_) {
    return;
  }
  const std::uint64_t since = time_ns < start_ns_ ? 0 : time_ns - start_ns_;
  const auto bucket =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(since / width_ns_, buckets_ - 1));
  if (bucket != bucket_) {
    rows_.begin_stretch();
    bucket_ = bucket;
  }
  TimeRow placed = row;
  placed.bucket = bucket;
  if (!rows_.add(placed, limit_)) {
    fits_ = false;
    rows_.release();
  }
}

std::string TimeRows::sentence(bool timed) const {
  const std::string stacks =
      resolution_.least_share <= 0 ? "callstacks complete"
      : resolution_.least_share > 1
          ? "without callstacks"
          : fmt::format("callstacks cut below {:g} %", resolution_.least_share * 100);
  return timed ? fmt::format("{} buckets; {}", width_text(width_ns_), stacks) : stacks;
}

PageTimeline TimeRows::finish(bool timed) {
  PageTimeline timeline;
  timeline.start_ns = start_ns_;
  timeline.width_ns = width_ns_;
  timeline.buckets = buckets_;
  timeline.timed = timed;
  timeline.resolution = sentence(timed);
  timeline.rows = std::move(rows_.rows());
  return timeline;
}

}  // namespace stackpack::exporting
