#include "query/selection/group_runs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"
#include "core/merge_heap.h"
#include "core/saturating.h"

namespace stackpack::query {

namespace {

// Chunks are given back one by one while runs are read, and thrown out whole.
constexpr std::size_t kChunkGroups = 4096;
constexpr std::size_t kLeastChunks = 8;        // of what may be kept
constexpr std::size_t kMostBytesOfGroup = 48;  // packed
constexpr unsigned kMembers = 4;               // of a key

std::array<std::uint32_t, kMembers> members_of(const GroupKey& key) {
  return {key.event, key.stack, key.context, key.track};
}

GroupKey key_of(const std::array<std::uint32_t, kMembers>& members) {
  return {members[0], members[1], members[2], members[3]};
}

// A key as the first member that is greater than in the key before it, how much that is, and the
// members after it; a weight that is as many times the count as the one before it, as 0.
class GroupPacker {
 public:
  void put(const Group& group, bytes::ByteWriter& out) {
    const auto members = members_of(group.key);
    unsigned first = 0;
    while (first + 1 < kMembers && members[first] == last_[first]) {
      ++first;
    }
    out.write_varint(std::uint64_t{members[first] - last_[first]} << 2 | first);
    for (unsigned i = first + 1; i < kMembers; ++i) {
      out.write_varint(members[i]);
    }
    last_ = members;
    out.write_varint(group.count);
    if (group.weight == group.count * each_) {
      out.write_varint(0);
      return;
    }
    out.write_varint(1);
    out.write_varint(group.weight);
    each_ = group.weight / std::max<std::uint64_t>(group.count, 1);
  }

  Group get(bytes::ByteCursor& in) {
    const std::uint64_t step = in.read_varint();
    const auto first = static_cast<unsigned>(step & (kMembers - 1));
    last_[first] += static_cast<std::uint32_t>(step >> 2);
    for (unsigned i = first + 1; i < kMembers; ++i) {
      last_[i] = static_cast<std::uint32_t>(in.read_varint());
    }
    Group group{key_of(last_), in.read_varint()};
    if (in.read_varint() == 0) {
      group.weight = group.count * each_;
      return group;
    }
    group.weight = in.read_varint();
    each_ = group.weight / std::max<std::uint64_t>(group.count, 1);
    return group;
  }

 private:
  std::array<std::uint32_t, kMembers> last_{};
  std::uint64_t each_ = 0;
};

void add_to(Group& sum, const Group& group) {
  core::add_saturating(sum.count, group.count);
  core::add_saturating(sum.weight, group.weight);
}

}  // namespace

struct GroupRuns::Chunk {
  GroupKey first;
  std::vector<std::byte> packed;

  [[nodiscard]] std::size_t bytes() const { return sizeof(Chunk) + packed.size(); }
};

// Reads runs side by side, and gives back the memory of what was read.
class GroupRuns::Merge {
 public:
  explicit Merge(std::vector<Run> runs) : heap_({}) {
    for (Run& run : runs) {
      sources_.emplace_back(std::move(run));
    }
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
      if (const auto group = sources_[i].next()) {
        heap_.push({*group, i});
      }
    }
  }

  std::optional<Group> next() {
    if (heap_.empty()) {
      return std::nullopt;
    }
    Group sum = advance();
    while (!heap_.empty() && heap_.top().group.key == sum.key) {
      add_to(sum, advance());
    }
    return sum;
  }

 private:
  class Source {
   public:
    explicit Source(Run run) : run_(std::move(run)) {}

    std::optional<Group> next() {
      while (in_.remaining() == 0) {
        if (chunk_ > 0) {
          run_[chunk_ - 1].packed = {};
        }
        if (chunk_ == run_.size()) {
          return std::nullopt;
        }
        in_ = bytes::ByteCursor(run_[chunk_++].packed, 0);
        packer_ = {};
      }
      return packer_.get(in_);
    }

   private:
    Run run_;
    std::size_t chunk_ = 0;  // the next one
    bytes::ByteCursor in_{{}, 0};
    GroupPacker packer_;
  };
  struct Head {
    Group group;
    std::uint32_t source = 0;
  };
  struct Before {
    bool operator()(const Head& a, const Head& b) const { return a.group.key < b.group.key; }
  };

  Group advance() {
    const std::uint32_t source = heap_.top().source;
    const auto group = sources_[source].next();
    return group ? heap_.replace_top({*group, source}).group : heap_.pop().group;
  }

  std::vector<Source> sources_;
  core::MergeHeap<Head, Before> heap_;
};

GroupRuns::GroupRuns(std::size_t limit_bytes) : limit_bytes_(std::max(limit_bytes, kLeastBytes)) {}
GroupRuns::~GroupRuns() = default;

void GroupRuns::append(Run& run, std::span<const Group> groups) {
  const std::size_t at_once = std::clamp<std::size_t>(
      limit_bytes_ / kLeastChunks / (kMostBytesOfGroup + sizeof(Chunk)), 1, kChunkGroups);
  bytes::ByteWriter out;
  for (std::size_t i = 0; i < groups.size(); i += at_once) {
    GroupPacker packer;
    out.clear();
    const auto some = groups.subspan(i, std::min(at_once, groups.size() - i));
    for (const Group& group : some) {
      packer.put(group, out);
    }
    run.push_back({some.front().key, {out.bytes().begin(), out.bytes().end()}});
    bytes_ += run.back().bytes();
  }
}

void GroupRuns::make_one() {
  Merge merge(std::exchange(runs_, {}));
  bytes_ = 0;
  Run run;
  std::vector<Group> some;
  for (auto group = merge.next(); group; group = merge.next()) {
    some.push_back(*group);
    if (some.size() == kChunkGroups) {
      append(run, some);
      some.clear();
    }
  }
  append(run, some);
  runs_.push_back(std::move(run));
}

std::optional<GroupKey> GroupRuns::add(std::span<const Group> groups) {
  runs_.emplace_back();
  append(runs_.back(), groups);
  if (bytes_ <= limit_bytes_) {
    return std::nullopt;
  }
  make_one();
  return bytes_ <= limit_bytes_ / 2 ? std::nullopt : throw_out_upper_part();
}

// Of the one run. What stays is half of the limit at most, so that the work of making one run of
// many is in proportion to the groups that were added.
std::optional<GroupKey> GroupRuns::throw_out_upper_part() {
  Run& run = runs_.front();
  std::size_t kept = 1;
  std::size_t bytes = run.front().bytes();
  while (kept < run.size() && bytes + run[kept].bytes() <= limit_bytes_ / 2) {
    bytes += run[kept++].bytes();
  }
  if (kept == run.size()) {
    return std::nullopt;
  }
  const GroupKey end = run[kept].first;
  run.erase(run.begin() + static_cast<std::ptrdiff_t>(kept), run.end());
  bytes_ = bytes;
  return end;
}

bool GroupRuns::take(std::size_t most, std::vector<Group>& groups) {
  if (merge_ == nullptr) {
    merge_ = std::make_unique<Merge>(std::exchange(runs_, {}));
  }
  groups.clear();
  while (groups.size() < most) {
    const auto group = merge_->next();
    if (!group) {
      break;
    }
    groups.push_back(*group);
  }
  return !groups.empty();
}

void GroupRuns::clear() {
  merge_.reset();
  runs_.clear();
  bytes_ = 0;
}

}  // namespace stackpack::query
