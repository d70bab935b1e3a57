// The input is a .spk file. Everything in it is read; a file that verifies must be readable in
// every way, and the ways must agree.
#include <cstddef>
#include <span>
#include <vector>

#include "fuzz/require.h"
#include "stackpack/reader.h"

namespace stackpack::fuzz {

void spk_walk(std::span<const std::byte> data);

namespace {

constexpr StackId kMostWalkedStacks = 2'000;
constexpr std::uint64_t kMostWalkedFrames = 200'000;
constexpr std::size_t kMostWalkedSamples = 200'000;

// The frames of the first callstacks, one after the other, while they can be read.
bool walk_stacks(const Reader& reader, std::vector<std::vector<Frame>>& stacks) {
  const StackId count = std::min(reader.stack_count(), kMostWalkedStacks);
  std::vector<Frame> frames;
  std::uint64_t total = 0;
  for (StackId id = 0; id < count && total < kMostWalkedFrames; ++id) {
    if (!reader.callstack(id, frames)) {
      return false;
    }
    require(!frames.empty());
    total += frames.size();
    stacks.push_back(frames);
  }
  require(!reader.callstack(reader.stack_count(), frames));
  return true;
}

// All at once must give what one at a time gave.
bool same_in_batch(const Reader& reader, const std::vector<std::vector<Frame>>& stacks) {
  std::vector<StackId> ids;
  for (std::size_t i = stacks.size(); i > 0; --i) {
    ids.push_back(static_cast<StackId>(i - 1));
  }
  const Status read =
      reader.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
        const std::vector<Frame>& alone = stacks[ids[position]];
        require(std::vector<Frame>(frames.begin(), frames.end()) == alone);
        return true;
      });
  return read.has_value();
}

bool walk_samples(const Reader& reader, const SampleQuery& query, std::size_t events,
                  std::size_t& count) {
  count = 0;
  const Status read = reader.samples(query, [&](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      require(sample.event < events);
      require(sample.stack == kNoStack || sample.stack < reader.stack_count());
      require(!query.tid || sample.tid == *query.tid);
      require(sample.time_ns >= query.from_ns && sample.time_ns <= query.to_ns);
    }
    count += samples.size();
    return count < kMostWalkedSamples;
  });
  return read.has_value();
}

// The branch stacks of samples, while they can be read.
bool walk_branch_stacks(const Reader& reader) {
  const Result<std::uint64_t> count = reader.branch_stack_count();
  if (!count) {
    return false;
  }
  bool good = true;
  std::size_t walked = 0;
  std::vector<StackedBranch> branches;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      if (walked++ < kMostWalkedStacks) {
        good &= reader.branch_stack(row, branches).has_value();
      }
    }
    return good;
  });
  FieldRow none;
  none.set(SampleField::kBranchStack, *count);
  require(!reader.branch_stack(none, branches));
  return good && read.has_value();
}

}  // namespace

void spk_walk(std::span<const std::byte> data) {
  ReaderOptions options;
  options.cache_bytes = 1U << 14;  // a page or two
  const auto opened = Reader::open_memory(data, options);
  if (!opened) {
    return;
  }
  const Reader& reader = **opened;
  std::uint64_t stored = 0;
  for (const SectionInfo& section : reader.sections()) {
    stored += section.stored_bytes;
  }
  require(stored == data.size() && reader.file_bytes() == data.size());

  bool good = true;
  const auto events = reader.events();
  good &= events.has_value();
  good &= reader.processes().has_value();
  good &= reader.threads().has_value();
  good &= reader.modules().has_value();
  good &= reader.metadata().has_value();
  good &= reader.branches().has_value();
  good &= walk_branch_stacks(reader);
  std::vector<std::vector<Frame>> stacks;
  const bool walked = walk_stacks(reader, stacks);
  good &= walked;
  good &= same_in_batch(reader, stacks);
  if (events && reader.has_samples()) {
    std::size_t all = 0;
    std::size_t some = 0;
    good &= walk_samples(reader, {}, events->size(), all);
    SampleQuery query;
    query.tid = 7;
    query.from_ns = 1'000;
    good &= walk_samples(reader, query, events->size(), some);
    require(!good || some <= all);
  } else if (!reader.has_samples()) {
    good &= reader.stack_counts().has_value();
  }
  require(good || !reader.verify().has_value());
}

}  // namespace stackpack::fuzz
