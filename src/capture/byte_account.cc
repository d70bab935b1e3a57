#include "capture/byte_account.h"

#include <string>

#include "core/sort_rows.h"

namespace stackpack::capture {

void SkippedBytes::add(SkipReason reason, std::uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  for (Entry& entry : entries_) {
    if (entry.reason == reason) {
      entry.bytes += bytes;
      return;
    }
  }
  entries_.push_back({reason, bytes});
}

void SkippedBytes::add(const SkippedBytes& other) {
  for (const Entry& entry : other.entries_) {
    add(entry.reason, entry.bytes);
  }
}

std::uint64_t SkippedBytes::of(SkipReason reason) const {
  for (const Entry& entry : entries_) {
    if (entry.reason == reason) {
      return entry.bytes;
    }
  }
  return 0;
}

std::uint64_t SkippedBytes::total() const {
  std::uint64_t total = 0;
  for (const Entry& entry : entries_) {
    total += entry.bytes;
  }
  return total;
}

std::vector<SkippedBytesCount> SkippedBytes::sorted() const {
  std::vector<SkippedBytesCount> counts;
  for (const Entry& entry : entries_) {
    counts.push_back({std::string(entry.reason.name()), entry.bytes});
  }
  core::sort_rows(counts,
                  [](const auto& left, const auto& right) { return left.reason < right.reason; });
  return counts;
}

}  // namespace stackpack::capture
