// Benchmark "cold": one callstack whose page is not in memory, alone, and what its parts take.
// Every callstack that is timed is compared with what a reader says that has all pages in memory.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "benchmarks.h"
#include "spk/read/dag_store.h"
#include "spk/read/file_opener.h"
#include "stopwatch.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

constexpr std::size_t kLookups = 20'000;

// What a Reader has inside, to time it in parts.
struct OpenFile {
  explicit OpenFile(std::span<const std::byte> file) : blocks(io::source_of_memory(file)) {}
  spk::BlockReader blocks;
  spk::OpenedFile opened;
  spk::DagStore dag{blocks, opened.directory, spk::kCallstackSections, 1};
};

struct PartTimes {
  Times content;    // read from the system's cache, checked, decompressed
  Times callstack;  // followed in the content
  Times page;       // made in memory, instead
};

bool time_parts(OpenFile& file, std::span<const StackId> ids, PartTimes& times) {
  std::vector<Frame> frames;
  spk::BlockReader::Lease scratch = file.blocks.borrow();
  double content_ns = 0;
  double callstack_ns = 0;
  double page_ns = 0;
  for (const StackId id : ids) {
    const std::uint64_t number = file.dag.page_of(id);
    const spk::DagStore::Page& page = file.dag.pages()[static_cast<std::size_t>(number)];
    const auto stack = static_cast<std::uint32_t>(id - page.first_stack);
    scratch->content_offset = kNoOffset;
    const WallStopwatch reading;
    const auto content = file.blocks.read(page.offset, page.block, *scratch);
    content_ns += reading.nanoseconds();
    const WallStopwatch following;
    if (!content || !scratch->pages.read_stack(*content, file.dag.edges(), file.dag.dictionary(),
                                               file.dag.expected_of(number), stack, frames)) {
      return false;
    }
    callstack_ns += following.nanoseconds();
    const WallStopwatch making;
    if (!file.dag.read_page(number, *scratch)) {
      return false;
    }
    page_ns += making.nanoseconds();
  }
  times.content.add(content_ns);
  times.callstack.add(callstack_ns);
  times.page.add(page_ns);
  return true;
}

double time_lookups(const Reader& reader, std::span<const StackId> ids) {
  std::vector<Frame> frames;
  const Stopwatch watch;
  for (const StackId id : ids) {
    if (!reader.callstack(id, frames)) {
      return 0;
    }
  }
  return watch.nanoseconds();
}

bool cold_is_right(const Reader& cold, const Reader& resident, std::span<const StackId> ids) {
  std::vector<Frame> frames;
  std::vector<Frame> expected;
  return std::all_of(ids.begin(), ids.end(), [&](StackId id) {
    return cold.callstack(id, frames) && resident.callstack(id, expected) && frames == expected;
  });
}

std::vector<StackId> shuffled_ids(StackId count, std::uint64_t seed) {
  std::vector<StackId> ids(count);
  std::iota(ids.begin(), ids.end(), 0U);
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64(seed));
  ids.resize(std::min(ids.size(), kLookups));
  return ids;
}

}  // namespace

bool bench_cold(const Settings& settings) {
  const SpkFile file =
      write_file(stored_input(settings), spk::WriterOptions{}.level, Samples::kLeftOut);
  if (file.bytes.empty()) {
    return false;
  }
  const auto cold = file.open(1);  // no page fits
  const auto resident = file.open(std::uint64_t{1} << 30);
  const std::vector<StackId> ids = shuffled_ids(cold->stack_count(), settings.workload.seed);
  if (!cold_is_right(*cold, *resident, ids)) {
    return false;
  }
  OpenFile parts(file.bytes);
  if (!spk::open_file(parts.blocks, parts.opened) || !parts.dag.load()) {
    return false;
  }
  Times whole;
  PartTimes times;
  const std::uint64_t before = cold->cache().misses;
  for (unsigned round = 0; round < settings.repeat; ++round) {
    whole.add(time_lookups(*cold, ids));
    if (!time_parts(parts, ids, times)) {
      return false;
    }
  }
  const auto count = static_cast<double>(ids.size());
  const auto misses = static_cast<double>(cold->cache().misses - before);
  const auto print = [count](const char* what, const Times& part) {
    std::printf("%-44s %8.1f %8.1f\n", what, part.least() * 1e-3 / count,
                part.median() * 1e-3 / count);
  };
  std::printf("%-44s %8s %8s\n", "us per callstack", "least", "median");
  print("one callstack, its page not in memory", whole);
  print("  content of the page, checked", times.content);
  print("  followed as far as the callstack", times.callstack);
  print("the whole page made in memory, in its place", times.page);
  std::printf("pages read per callstack: %.3f\n", misses / count / settings.repeat);
  return true;
}

}  // namespace stackpack::bench
