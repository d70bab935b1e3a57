// Benchmark "decode": id to callstack, ours against the published layout, both resident. Every
// distinct callstack is compared once before.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "benchmarks.h"
#include "builder/published_builder.h"
#include "stopwatch.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

constexpr std::size_t kMostLookups = 2'000'000;

struct Orders {
  std::vector<StackId> unique;      // every id once, shuffled
  std::vector<StackId> by_sample;   // ids of random samples
  std::vector<StackId> sequential;  // every id, ascending
};

Orders orders_of(const StoredInput& input, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Orders orders;
  orders.sequential.resize(input.by_id.size());
  std::iota(orders.sequential.begin(), orders.sequential.end(), 0U);
  orders.unique = orders.sequential;
  std::shuffle(orders.unique.begin(), orders.unique.end(), random);
  orders.by_sample.resize(std::min(kMostLookups, input.ids.size()));
  for (StackId& id : orders.by_sample) {
    id = input.ids[random() % input.ids.size()];
  }
  return orders;
}

struct Published {
  PublishedBuilder builder;
  std::vector<std::uint32_t> node_of;  // per stack id
};

bool same_stacks(Published& published, const Reader& reader) {
  std::vector<Frame> frames;
  std::vector<std::uint64_t> addresses;
  std::vector<capture::ModeRun> runs;
  for (StackId id = 0; id < reader.stack_count(); ++id) {
    if (!reader.callstack(id, frames)) {
      return false;
    }
    addresses.clear();
    runs.clear();
    for (const Frame& frame : frames) {
      addresses.push_back(frame.address);
      runs.push_back({frame.mode, 1});
    }
    if (!published.builder.holds(published.node_of[id], {addresses, runs})) {
      return false;
    }
  }
  return true;
}

double time_published(const Published& published, std::span<const StackId> ids,
                      std::uint64_t& frames) {
  std::vector<std::uint64_t> words;
  frames = 0;
  const Stopwatch watch;
  for (const StackId id : ids) {
    published.builder.callstack(published.node_of[id], words);
    frames += words.size();
  }
  return watch.nanoseconds();
}

double time_reader(const Reader& reader, std::span<const StackId> ids, std::uint64_t& frames) {
  std::vector<Frame> stack;
  frames = 0;
  const Stopwatch watch;
  for (const StackId id : ids) {
    if (reader.callstack(id, stack)) {
      frames += stack.size();
    }
  }
  return watch.nanoseconds();
}

double time_batch(const Reader& reader, std::span<const StackId> ids, std::uint64_t& frames) {
  frames = 0;
  const Stopwatch watch;
  const Status done = reader.callstacks(ids, [&](std::size_t, std::span<const Frame> stack) {
    frames += stack.size();
    return true;
  });
  return done ? watch.nanoseconds() : 0;
}

// Pages of the published layout that the callstacks touch on the way to the root.
void print_published_pages(const Published& published) {
  std::uint64_t touched = 0;
  std::size_t most = 0;
  std::set<std::uint64_t> pages;
  for (const std::uint32_t leaf : published.node_of) {
    pages.clear();
    for (std::uint64_t node = leaf; node != 0; node = published.builder.parent(node)) {
      pages.insert(PublishedBuilder::page_of(node));
    }
    touched += pages.size();
    most = std::max(most, pages.size());
  }
  std::printf("pages per callstack: published %.2f on average, %zu at most; ours 1\n",
              static_cast<double>(touched) / static_cast<double>(published.node_of.size()), most);
}

struct Row {
  const char* name;
  const std::vector<StackId>& ids;
  Times published;
  Times single;
  Times batch;
};

}  // namespace

bool bench_decode(const Settings& settings) {
  const StackStream& stream = input_stream(settings);
  const StoredInput& input = stored_input(settings);
  const SpkFile file = write_file(input, spk::WriterOptions{}.level, Samples::kLeftOut);
  if (file.bytes.empty()) {
    return false;
  }
  Published published{{}, std::vector<std::uint32_t>(input.by_id.size())};
  for (std::size_t i = 0; i < stream.size(); ++i) {
    published.node_of[input.ids[i]] =
        published.builder.intern(stream.stack(i), stream.entry(i).thread);
  }
  const auto reader = file.open(std::uint64_t{1} << 30);
  if (!same_stacks(published, *reader)) {
    return false;
  }

  const Orders orders = orders_of(input, settings.workload.seed);
  std::vector<Row> rows = {{"random unique", orders.unique, {}, {}, {}},
                           {"random by sample", orders.by_sample, {}, {}, {}},
                           {"sequential", orders.sequential, {}, {}, {}}};
  for (unsigned round = 0; round < settings.repeat; ++round) {
    for (Row& row : rows) {
      std::uint64_t expected = 0;
      std::uint64_t single = 0;
      std::uint64_t batch = 0;
      row.published.add(time_published(published, row.ids, expected));
      row.single.add(time_reader(*reader, row.ids, single));
      row.batch.add(time_batch(*reader, row.ids, batch));
      if (single != expected || batch != expected) {
        return false;
      }
    }
  }
  std::printf("%-18s %12s %10s %10s %8s %8s\n", "ns per callstack", "published", "ours", "in batch",
              "ratio", "batch");
  for (const Row& row : rows) {
    const auto count = static_cast<double>(row.ids.size());
    std::printf("%-18s %12.1f %10.1f %10.1f %8.2f %8.2f\n", row.name, row.published.least() / count,
                row.single.least() / count, row.batch.least() / count,
                row.published.least() / row.single.least(),
                row.published.least() / row.batch.least());
  }
  std::printf("ratio: time of the published layout / time; all pages resident\n");
  print_published_pages(published);
  return true;
}

}  // namespace stackpack::bench
