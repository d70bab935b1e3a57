// Benchmark "builder": our builder against the published design, ordinary hash maps, and itself
// with a cache of whole callstacks in front. All of them number nodes in the order of first
// appearance, root first, so that equal results mean equal node numbers for every callstack of the
// stream.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "benchmarks.h"
#include "builder/keyed_builder.h"
#include "builder/published_builder.h"
#include "builder/stack_cache_builder.h"
#include "dag/builder.h"
#include "dag/node_store.h"
#include "stopwatch.h"

#ifdef STACKPACK_BENCH_ABSL
#include <absl/container/flat_hash_map.h>
#endif

namespace stackpack::bench {
namespace {

struct Run {
  double nanoseconds = 0;
  std::uint64_t nodes = 0;
  std::uint64_t map_bytes = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t cache_hits = 0;
};

using Ids = std::vector<std::uint32_t>;

// A source has a callstack in its hands, and so in the cache, before it passes it on. The stream of
// a benchmark comes from memory, so it is fetched a few callstacks ahead, for every variant that is
// given one callstack at a time.
void prefetch_stack(const StackStream& stream, std::size_t i) {
  if (i < stream.size()) {
    const auto addresses = stream.stack(i).addresses;
    for (std::size_t k = 0; k < addresses.size(); k += 8) {
      __builtin_prefetch(addresses.data() + k);
    }
  }
}

template <typename BuilderType>
double intern_all(BuilderType& builder, const StackStream& stream, Ids& ids) {
  const Stopwatch watch;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const StackStream::Entry& entry = stream.entry(i);
    prefetch_stack(stream, i + 6);
    ids[i] = builder.intern(stream.stack(i), entry.thread);
  }
  return watch.nanoseconds();
}

// The same for ours, which is given as many callstacks at once as in a conversion, and fetches them
// itself.
double intern_together(dag::Builder& builder, const StackStream& stream, Ids& ids, bool by_cpu) {
  constexpr std::size_t kTogether = 256;
  const Stopwatch watch;
  std::vector<dag::Builder::Arrival> arrivals;
  std::vector<dag::NodeIndex> nodes(kTogether);
  std::size_t offered = 0;
  std::size_t done = 0;
  while (done < stream.size()) {
    for (; offered < std::min(done + kTogether, stream.size()); ++offered) {
      const StackStream::Entry& entry = stream.entry(offered);
      arrivals.push_back({stream.stack(offered), by_cpu ? entry.cpu : entry.thread});
    }
    const std::size_t count = builder.intern_some(arrivals, nodes).value();
    for (std::size_t i = 0; i < count; ++i) {
      ids[done + i] = static_cast<std::uint32_t>(nodes[i]);
    }
    arrivals.erase(arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(count));
    done += count;
  }
  return watch.nanoseconds();
}

// The interface of the others over ours: one at a time.
class OurBuilder {
 public:
  OurBuilder() : builder_({}) {}
  std::uint32_t intern(const capture::StackView& stack, std::uint64_t thread) {
    return static_cast<std::uint32_t>(builder_.intern(stack, thread).value());
  }
  [[nodiscard]] const dag::Builder& builder() const { return builder_; }

 private:
  dag::Builder builder_;
};

Run describe(const dag::Builder& builder, double nanoseconds) {
  return {nanoseconds, builder.node_count(), builder.map_bytes(),
          dag::NodeStore::bytes_for(builder.node_count()), 0};
}

Run run_ours(const StackStream& stream, Ids& ids) {
  dag::Builder builder({});
  const double time = intern_together(builder, stream, ids, false);
  return describe(builder, time);
}

Run run_ours_by_cpu(const StackStream& stream, Ids& ids) {
  dag::Builder builder({});
  const double time = intern_together(builder, stream, ids, true);
  return describe(builder, time);
}

Run run_ours_one_by_one(const StackStream& stream, Ids& ids) {
  OurBuilder builder;
  const double time = intern_all(builder, stream, ids);
  return describe(builder.builder(), time);
}

template <std::size_t kEntries>
Run run_ours_with_stack_cache(const StackStream& stream, Ids& ids) {
  StackCacheBuilder builder(kEntries);
  const double time = intern_all(builder, stream, ids);
  Run run = describe(builder.builder(), time);
  run.cache_hits = builder.hits();
  return run;
}

Run run_published(const StackStream& stream, Ids& ids) {
  PublishedBuilder builder;
  const double time = intern_all(builder, stream, ids);
  return {time, builder.node_count(), builder.map_bytes(), builder.store_bytes(), 0};
}

Run run_std_map(const StackStream& stream, Ids& ids) {
  KeyedBuilder<StdMap> builder;
  const double time = intern_all(builder, stream, ids);
  return {time, builder.node_count(), map_bytes(builder.map()), 0, 0};
}

#ifdef STACKPACK_BENCH_ABSL
Run run_absl_map(const StackStream& stream, Ids& ids) {
  KeyedBuilder<absl::flat_hash_map<NodeKey, std::uint32_t>> builder;
  const double time = intern_all(builder, stream, ids);
  // A slot and its control byte.
  const std::uint64_t bytes =
      builder.map().capacity() * (sizeof(std::pair<const NodeKey, std::uint32_t>) + 1);
  return {time, builder.node_count(), bytes, 0, 0};
}
#endif

struct Variant {
  const char* name;
  Run (*run)(const StackStream&, Ids&);
  Times times;
  Run last;
};

}  // namespace

bool bench_builder(const Settings& settings) {
  const StackStream& stream = input_stream(settings);
  std::vector<Variant> variants = {
      {"published design", run_published, {}, {}},
      {"ours", run_ours, {}, {}},
      {"ours, last stack by cpu", run_ours_by_cpu, {}, {}},
      {"ours, one at a time", run_ours_one_by_one, {}, {}},
      {"ours + stack cache, 4,096", run_ours_with_stack_cache<4096>, {}, {}},
      {"ours + stack cache, 65,536", run_ours_with_stack_cache<65'536>, {}, {}},
      {"ours + stack cache, 1 Mi", run_ours_with_stack_cache<1 << 20>, {}, {}},
      {"std::unordered_map", run_std_map, {}, {}},
#ifdef STACKPACK_BENCH_ABSL
      {"absl::flat_hash_map", run_absl_map, {}, {}},
#endif
  };

  Ids expected(stream.size());
  Ids ids(stream.size());
  variants.front().run(stream, expected);
  for (unsigned round = 0; round < settings.repeat; ++round) {
    for (Variant& variant : variants) {
      variant.last = variant.run(stream, ids);
      variant.times.add(variant.last.nanoseconds);
      if (ids != expected) {
        std::printf("%s: other nodes than %s\n", variant.name, variants.front().name);
        return false;
      }
    }
  }

  const auto stacks = static_cast<double>(stream.size());
  const double published = variants.front().times.least();
  const double gigabytes = 8e-9 * static_cast<double>(stream.frame_count());
  std::printf("%-28s %9s %9s %7s %6s %9s %9s %7s\n", "variant", "ns/stack", "median", "ratio",
              "GB/s", "map B/n", "store B/n", "hits %");
  for (const Variant& variant : variants) {
    const auto nodes = static_cast<double>(variant.last.nodes);
    const double least = variant.times.least();
    std::printf("%-28s %9.1f %9.1f %7.2f %6.2f %9.2f %9.2f %7.1f\n", variant.name, least / stacks,
                variant.times.median() / stacks, published / least, gigabytes / (least * 1e-9),
                static_cast<double>(variant.last.map_bytes) / nodes,
                static_cast<double>(variant.last.store_bytes) / nodes,
                100 * static_cast<double>(variant.last.cache_hits) / stacks);
  }
  std::printf("ratio: time of the published design / time; the same nodes for all %zu stacks\n",
              stream.size());
  return true;
}

}  // namespace stackpack::bench
