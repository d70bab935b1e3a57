#include "query/data_source.h"

#include <array>
#include <cstddef>
#include <span>

namespace stackpack::query {

namespace {

// Where fields begin, and how many bits they have.
constexpr unsigned kOperationAt = 0;
constexpr unsigned kLevelAt = 5;
constexpr unsigned kSnoopAt = 19;
constexpr unsigned kLockAt = 24;
constexpr unsigned kTlbAt = 26;
constexpr unsigned kLevelNumberAt = 33;
constexpr unsigned kRemoteAt = 37;
constexpr unsigned kMoreSnoopAt = 38;
constexpr unsigned kBlockedAt = 40;
constexpr unsigned kHopsAt = 43;

// Bits of operations, levels and snooping.
constexpr std::uint64_t kLoad = 2;
constexpr std::uint64_t kStore = 4;
constexpr std::uint64_t kHit = 2;
constexpr std::uint64_t kMiss = 4;
constexpr std::uint64_t kOtherCaches = 3U << 10;  // of another node, one hop or two away
constexpr std::uint64_t kOtherRam = 3U << 8;
constexpr std::uint64_t kModified = 16;

constexpr std::string_view kNone = "N/A";
constexpr std::string_view kHitText = " hit";
constexpr std::string_view kMissText = " miss";

// Appends the names of the bits that are set, with "or" between.
void append_bits(std::string& text, std::uint64_t bits, std::span<const std::string_view> names) {
  bool first = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((bits >> i & 1) != 0) {
      text += first ? "" : " or ";
      text += names[i];
      first = false;
    }
  }
}

std::string_view level_of_number(std::uint64_t number) {
  constexpr std::array<std::string_view, 16> kNames = {
      "",   "L1",  "L2",  "L3",        "L4",      "L5",  "L6",   "L7",
      "L8", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM", kNone};
  return kNames[number & 15U];
}

}  // namespace

bool DataSource::is_load() const {
  return (field(kOperationAt, 5) & kLoad) != 0;
}

bool DataSource::is_store() const {
  return (field(kOperationAt, 5) & kStore) != 0;
}

bool DataSource::hits_modified() const {
  return (field(kSnoopAt, 5) & kModified) != 0;
}

bool DataSource::is_remote() const {
  return field(kRemoteAt, 1) != 0 || (field(kLevelAt, 14) & (kOtherCaches | kOtherRam)) != 0;
}

std::string_view DataSource::operation() const {
  constexpr std::array<std::string_view, 5> kNames = {kNone, "LOAD", "STORE", "PFETCH", "EXEC"};
  const std::uint64_t bits = field(kOperationAt, 5);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((bits >> i & 1) != 0) {
      return kNames[i];
    }
  }
  return "No";
}

std::string DataSource::level() const {
  constexpr std::array<std::string_view, 14> kNames = {"N/A",
                                                       "",
                                                       "",
                                                       "L1",
                                                       "LFB/MAB",
                                                       "L2",
                                                       "L3",
                                                       "Local RAM",
                                                       "Remote RAM (1 hop)",
                                                       "Remote RAM (2 hops)",
                                                       "Remote Cache (1 hop)",
                                                       "Remote Cache (2 hops)",
                                                       "I/O",
                                                       "Uncached"};
  constexpr std::array<std::string_view, 8> kHops = {
      "", "core, same node", "node, same socket", "socket, same board", "board", "", "", ""};
  const std::uint64_t bits = field(kLevelAt, 14);
  const std::uint64_t named = bits & ~(kHit | kMiss);
  std::string text = field(kRemoteAt, 1) != 0 ? "Remote " : "";
  bool has_level = false;
  if (const std::uint64_t hops = field(kHopsAt, 3); hops != 0) {
    text += kHops[hops];
    text += ' ';
  } else {
    append_bits(text, named, kNames);
    has_level = named != 0;
  }
  if (const std::uint64_t number = field(kLevelNumberAt, 4); number != 0) {
    text += has_level ? " or " : "";
    text += level_of_number(number);
  }
  text = text.empty() ? std::string(kNone) : text;
  text += (bits & kHit) != 0 ? kHitText : "";
  text += (bits & kMiss) != 0 ? kMissText : "";
  return text;
}

std::string DataSource::snoop() const {
  constexpr std::array<std::string_view, 5> kNames = {kNone, "None", "Hit", "Miss", "HitM"};
  constexpr std::array<std::string_view, 2> kMore = {"Fwd", "Peer"};
  std::string text;
  append_bits(text, field(kSnoopAt, 5), kNames);
  const std::uint64_t more = field(kMoreSnoopAt, 2);
  text += !text.empty() && more != 0 ? " or " : "";
  append_bits(text, more, kMore);
  return text.empty() ? std::string(kNone) : text;
}

std::string DataSource::tlb() const {
  constexpr std::array<std::string_view, 7> kNames = {kNone, "", "", "L1", "L2", "Walker", "Fault"};
  const std::uint64_t bits = field(kTlbAt, 7);
  std::string text;
  append_bits(text, bits & ~(kHit | kMiss), kNames);
  text = text.empty() ? std::string(kNone) : text;
  text += (bits & kHit) != 0 ? kHitText : "";
  text += (bits & kMiss) != 0 ? kMissText : "";
  return text;
}

std::string_view DataSource::locked() const {
  const std::uint64_t bits = field(kLockAt, 2);
  return (bits & 1) != 0 ? kNone : (bits & 2) != 0 ? "Yes" : "No";
}

std::string DataSource::blocked() const {
  const std::uint64_t bits = field(kBlockedAt, 3);
  if ((bits & 1) != 0 || bits == 0) {
    return std::string(kNone);
  }
  std::string text = (bits & 2) != 0 ? "Data" : "";
  text += (bits & 4) != 0 ? (text.empty() ? "Addr" : " Addr") : "";
  return text;
}

std::string DataSource::text() const {
  std::string all;
  all += "OP ";
  all += operation();
  all += "|LVL " + level() + "|SNP " + snoop() + "|TLB " + tlb() + "|LCK ";
  all += locked();
  all += "|BLK  " + blocked();
  return all;
}

}  // namespace stackpack::query
