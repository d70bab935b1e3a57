#include "stackpack/sample_cursor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/layout.h"
#include "support/sanitizer.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

// Samples made of the columns that were asked for; the others have their defaults.
std::vector<StoredSample> rows_of(const SampleColumns& columns) {
  std::vector<StoredSample> rows(columns.rows);
  const auto put = [&rows](const auto& values, auto field) {
    REQUIRE((values.empty() || values.size() == rows.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows[i].*field = values[i];
    }
  };
  put(columns.time_ns, &StoredSample::time_ns);
  put(columns.pid, &StoredSample::pid);
  put(columns.tid, &StoredSample::tid);
  put(columns.cpu, &StoredSample::cpu);
  put(columns.event, &StoredSample::event);
  put(columns.weight, &StoredSample::weight);
  put(columns.origin, &StoredSample::origin);
  put(columns.flags, &StoredSample::flags);
  put(columns.stack, &StoredSample::stack);
  return rows;
}

std::vector<StoredSample> visited(const Reader& reader, const SampleScan& scan) {
  std::vector<StoredSample> all;
  const Status read = visit_samples(reader, scan, [&all](const SampleColumns& columns) {
    const std::vector<StoredSample> rows = rows_of(columns);
    all.insert(all.end(), rows.begin(), rows.end());
    return true;
  });
  REQUIRE_MESSAGE(read.has_value(), failure(read));
  return all;
}

std::vector<StoredSample> reduced(std::vector<StoredSample> samples, std::uint32_t columns) {
  for (StoredSample& sample : samples) {
    const StoredSample whole = sample;
    sample = {};
    const auto keep = [&](SampleColumn column, auto field) {
      sample.*field = (columns & column) != 0 ? whole.*field : sample.*field;
    };
    keep(kTimeColumn, &StoredSample::time_ns);
    keep(kPidColumn, &StoredSample::pid);
    keep(kTidColumn, &StoredSample::tid);
    keep(kCpuColumn, &StoredSample::cpu);
    keep(kEventColumn, &StoredSample::event);
    keep(kWeightColumn, &StoredSample::weight);
    keep(kOriginColumn, &StoredSample::origin);
    keep(kFlagsColumn, &StoredSample::flags);
    keep(kStackColumn, &StoredSample::stack);
  }
  return samples;
}

// Of samples in the order of the capture.
void check_sums(std::span<const StoredSample> samples, const EntrySums& sums) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, StackId>, std::size_t> rows;
  std::vector<std::uint64_t> counts(sums.rows.size());
  std::vector<std::uint64_t> weights(sums.rows.size());
  for (const StoredSample& sample : samples) {
    const auto [found, fresh] =
        rows.try_emplace({sample.pid, sample.tid, sample.stack}, rows.size());
    const std::size_t row = found->second;
    REQUIRE(row < sums.rows.size());
    if (fresh) {  // rows come in the order of their first samples
      REQUIRE(sums.rows[row].pid == sample.pid);
      REQUIRE(sums.rows[row].tid == sample.tid);
      REQUIRE(sums.rows[row].stack == sample.stack);
      REQUIRE(sums.rows[row].flags == sample.flags);
      REQUIRE(sums.rows[row].first_time_ns == sample.time_ns);
    }
    REQUIRE(sums.rows[row].last_time_ns >= sample.time_ns);
    ++counts[row];
    const std::uint64_t sum = weights[row] + sample.weight;
    weights[row] = sum < sample.weight ? ~std::uint64_t{0} : sum;
  }
  CHECK(rows.size() == sums.rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    REQUIRE(sums.rows[row].count == counts[row]);
    REQUIRE(sums.rows[row].weight == weights[row]);
  }
  CHECK(sums.first_ns == samples.front().time_ns);
  CHECK(sums.last_ns == samples.back().time_ns);
}

SpkContent two_blocks() {
  SpkContent content = random_content(31, 300, spk::kSamplesPerBlock + 5'000);
  content.samples[10].origin = StackOrigin::kUnwound;
  return content;
}

// What a visit of a damaged file comes to: the rows before the error, and the error.
struct Outcome {
  std::size_t rows = 0;
  std::uint64_t last_ns = 0;
  std::string error;

  friend bool operator==(const Outcome&, const Outcome&) = default;

  void add(const SampleColumns& columns) {
    rows += columns.rows;
    last_ns = columns.time_ns.back();
  }
};

// Block by block: as the threads of a visit do, but in turn.
Outcome outcome_in_turn(const Reader& reader) {
  Outcome outcome;
  for (std::uint64_t block = 0; block < *reader.sample_block_count(); ++block) {
    SampleScan scan;
    scan.first_block = block;
    scan.end_block = block + 1;
    const Status read = visit_samples(reader, scan, [&](const SampleColumns& columns) {
      outcome.add(columns);
      return true;
    });
    if (!read) {
      outcome.error = failure(read);
      break;
    }
  }
  return outcome;
}

TEST_SUITE("sample cursor") {
  TEST_CASE("sample cursor: each set of columns is what the samples are made of" *
            doctest::test_suite(test::kNoThreadsOfItsOwn)) {
    const SpkContent content = two_blocks();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    for (const std::uint32_t columns :
         {kAllSampleColumns + 0U, 0U, kTimeColumn + 0U, kPidColumn + 0U, kTidColumn + 0U,
          kCpuColumn + 0U, kEventColumn + 0U, kWeightColumn + 0U, kOriginColumn + 0U,
          kFlagsColumn + 0U, kStackColumn + 0U, kTimeColumn | kEventColumn | kStackColumn,
          kWeightColumn | kPidColumn}) {
      CAPTURE(columns);
      SampleScan scan;
      scan.columns = columns;
      CHECK(visited(*reader, scan) == reduced(content.samples, columns));
      scan.query.any_order = true;
      CHECK(visited(*reader, scan) == reduced(samples_in(*reader, scan.query).value(), columns));
    }
  }

  TEST_CASE("sample cursor: callstacks by their entries, each once for each thread of a block") {
    const SpkContent content = two_blocks();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    for (const bool any_order : {false, true}) {
      SampleScan scan;
      scan.query.any_order = any_order;
      scan.columns = kTimeColumn | kPidColumn | kTidColumn | kStackColumn | kStackEntryColumn;
      std::uint64_t blocks = 0;
      CHECK(visit_samples(*reader, scan, [&](const SampleColumns& columns) {
        const StackEntries& entries = columns.entries;
        CHECK(entries.block == blocks++);
        const auto [first, last] =
            std::minmax_element(columns.time_ns.begin(), columns.time_ns.end());
        CHECK(entries.first_ns == *first);
        CHECK(entries.last_ns == *last);
        REQUIRE(entries.pid.size() == entries.stack.size());
        CHECK(entries.stack.front() == kNoStack);
        std::set<std::pair<std::uint32_t, StackId>> by_thread;
        for (std::size_t row = 0; row < columns.rows; ++row) {
          const std::size_t entry = columns.entry[row];
          REQUIRE(entry < entries.stack.size());
          REQUIRE(entries.stack[entry] == columns.stack[row]);
          if (entry != 0) {
            REQUIRE(entries.pid[entry] == columns.pid[row]);
            by_thread.emplace(columns.tid[row], columns.stack[row]);
          }
        }
        CHECK(by_thread.size() == entries.stack.size() - 1);
        return true;
      }));
      CHECK(blocks == 2);
    }
  }

  TEST_CASE("sample cursor: conditions that need columns nobody asked for") {
    const SpkContent content = two_blocks();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    std::vector<SampleQuery> queries(5);
    queries[0].from_ns = content.samples[500].time_ns;
    queries[0].to_ns = content.samples[66'000].time_ns;
    queries[1].pid = content.samples[3].pid;
    queries[2].tid = content.samples[3].tid;
    queries[2].from_ns = content.samples[500].time_ns;
    queries[3].pid = 4'000'000'000;
    queries[4].to_ns = content.samples[0].time_ns - 1;
    for (SampleQuery& query : queries) {
      for (const bool any_order : {false, true}) {
        query.any_order = any_order;
        SampleScan scan;
        scan.query = query;
        scan.columns = kWeightColumn | kStackColumn;
        CHECK(visited(*reader, scan) == reduced(samples_in(*reader, query).value(), scan.columns));
      }
    }
  }

  TEST_CASE("sample cursor: in pieces, and block by block") {
    const SpkContent content = two_blocks();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    SampleScan scan;
    scan.columns = kWeightColumn;
    auto cursor = SampleCursor::open(*reader, scan);
    REQUIRE(cursor.has_value());
    std::vector<std::uint64_t> weights(content.samples.size());
    SampleArrays to;
    std::size_t at = 0;
    while (true) {
      const auto ready = (*cursor)->ready();
      REQUIRE(ready.has_value());
      if (*ready == 0) {
        break;
      }
      CHECK(*ready <= spk::kSamplesPerBlock);
      const std::size_t rows = std::min<std::size_t>(*ready, 777);
      to.weight = weights.data() + at;
      (*cursor)->take(rows, to);
      at += rows;
    }
    CHECK(at == content.samples.size());
    CHECK(std::equal(weights.begin(), weights.end(), content.samples.begin(),
                     [](std::uint64_t weight, const auto& s) { return weight == s.weight; }));

    scan.columns = kAllSampleColumns;
    scan.first_block = 1;
    const std::vector<StoredSample> second(content.samples.begin() + spk::kSamplesPerBlock,
                                           content.samples.end());
    CHECK(visited(*reader, scan) == second);
    scan.end_block = 1;
    CHECK(visited(*reader, scan).empty());
  }

  TEST_CASE("sample cursor: a visitor can end it, and a file without samples has none") {
    const SpkContent content = two_blocks();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    int visits = 0;
    CHECK(visit_samples(*reader, {}, [&visits](const SampleColumns&) { return ++visits < 1; }));
    CHECK(visits == 1);
  }

  TEST_CASE("sample cursor: parts are made by threads, and taken in the order of the blocks") {
    const SpkContent content = random_content(33, 300, 6 * spk::kSamplesPerBlock + 100);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    const std::uint64_t third = content.samples[2 * spk::kSamplesPerBlock].time_ns;
    const std::uint64_t none = ~std::uint64_t{0};
    for (const std::uint64_t first_block : {0U, 5U}) {  // many blocks, and few
      for (const std::uint64_t fails_in_make : {none, third}) {
        for (const std::uint64_t fails_in_take : {none, third}) {
          SampleScan scan;
          scan.columns = kAllSampleColumns | kStackEntryColumn;
          scan.first_block = first_block;
          std::array<std::vector<StoredSample>, SamplePass::kPlaces> places;
          std::array<bool, SamplePass::kWorkers> works{};
          std::atomic<bool> wrong = false;
          std::vector<StoredSample> taken;
          SamplePass pass;
          pass.make = [&](std::size_t worker, std::size_t place,
                          const SampleColumns& columns) -> Status {
            wrong = wrong || std::exchange(works[worker], true) || !places[place].empty();
            places[place] = rows_of(columns);
            for (std::size_t row = 0; row < columns.rows; ++row) {
              wrong = wrong || columns.entries.stack[columns.entry[row]] != columns.stack[row];
            }
            works[worker] = false;
            return columns.time_ns.front() == fails_in_make
                       ? Status(Error{ErrorCode::kCorrupt, 1, "made"})
                       : Status{};
          };
          pass.take = [&](std::size_t place) -> Status {
            if (places[place].front().time_ns == fails_in_take) {
              return Error{ErrorCode::kCorrupt, 1, "taken"};
            }
            taken.insert(taken.end(), places[place].begin(), places[place].end());
            places[place].clear();
            return {};
          };
          const Status status = visit_samples_in_parts(*reader, scan, pass);
          const bool fails = first_block == 0 && (fails_in_make == third || fails_in_take == third);
          CHECK_FALSE(wrong);
          CHECK(failure(status) == (!fails ? "" : fails_in_make == third ? "made" : "taken"));
          const std::size_t begin = first_block * spk::kSamplesPerBlock;
          const std::size_t end = fails ? 2 * spk::kSamplesPerBlock : content.samples.size();
          CHECK(std::equal(taken.begin(), taken.end(),
                           content.samples.begin() + static_cast<std::ptrdiff_t>(begin),
                           content.samples.begin() + static_cast<std::ptrdiff_t>(end)));
        }
      }
    }
  }

  TEST_CASE("sample cursor: a block is added up by entry where its samples allow it") {
    SpkContent content = random_content(35, 40, 5 * spk::kSamplesPerBlock);
    for (std::size_t i = 0; i < content.samples.size(); ++i) {
      StoredSample& sample = content.samples[i];
      const std::size_t block = i / spk::kSamplesPerBlock;
      sample.event = block == 1 && i % spk::kSamplesPerBlock == 500 ? 1 : 0;
      sample.origin = StackOrigin::kRecorded;
      sample.stack = sample.stack == kNoStack ? 7 : sample.stack;
      sample.flags = static_cast<std::uint8_t>(sample.tid % 8);
      sample.weight = block == 4 ? 3 : sample.weight;
    }
    StoredSample& without = content.samples[2 * spk::kSamplesPerBlock + 700];
    without.origin = StackOrigin::kNone;
    without.stack = kNoStack;
    content.samples[3 * spk::kSamplesPerBlock + 900].flags ^= 8;
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    SampleScan scan;
    scan.columns = kAllSampleColumns | kStackEntryColumn;
    const auto cursor = SampleCursor::open(*reader, scan);
    REQUIRE(cursor.has_value());
    for (std::size_t block = 0; block < 5; ++block) {
      CAPTURE(block);
      const auto rows = (*cursor)->ready();
      REQUIRE((rows.has_value() && *rows == spk::kSamplesPerBlock));
      EntrySums sums;
      const bool summed = (*cursor)->sum(sums);
      CHECK(summed == (block == 0 || block == 4));
      if (summed) {
        const auto* const begin = content.samples.data() + block * spk::kSamplesPerBlock;
        check_sums(std::span(begin, spk::kSamplesPerBlock), sums);
        CHECK(sums.equal_weights == (block == 4));
      }
      (*cursor)->take(*rows, {});
      CHECK_FALSE((*cursor)->sum(sums));
    }
    scan.query.to_ns = content.samples[1000].time_ns;
    const auto part = SampleCursor::open(*reader, scan);
    REQUIRE((part.has_value() && (*part)->ready().has_value()));
    EntrySums sums;
    CHECK_FALSE((*part)->sum(sums));
  }

  TEST_CASE("sample cursor: many blocks come in their order, until a visitor ends it") {
    const SpkContent content = random_content(32, 300, 6 * spk::kSamplesPerBlock + 100);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    CHECK(visited(*reader, {}) == content.samples);
    SampleScan scan;
    scan.first_block = 1;
    scan.end_block = 6;
    CHECK(visited(*reader, scan).front() == content.samples[spk::kSamplesPerBlock]);
    CHECK(visited(*reader, scan).size() == 5 * spk::kSamplesPerBlock);
    for (std::size_t wanted = 1; wanted <= 7; ++wanted) {
      std::size_t visits = 0;
      CHECK(visit_samples(*reader, {}, [&](const SampleColumns&) { return ++visits < wanted; }));
      CHECK(visits == wanted);
    }
  }

  TEST_CASE("sample cursor: of damaged blocks the first is the error, after the rows before it") {
    const std::vector<std::byte> whole =
        spk_bytes(random_content(33, 40, 5 * spk::kSamplesPerBlock));
    std::set<std::size_t> rows_before;
    for (std::size_t at = 200; at < whole.size(); at += whole.size() / 16) {
      CAPTURE(at);
      std::vector<std::byte> file = whole;
      file[at] ^= std::byte{0x40};
      const auto reader = Reader::open_memory(file);
      if (!reader) {
        continue;
      }
      Outcome outcome;
      const Status read = visit_samples(**reader, {}, [&](const SampleColumns& columns) {
        outcome.add(columns);
        return true;
      });
      outcome.error = read ? "" : failure(read);
      CHECK(outcome == outcome_in_turn(**reader));
      rows_before.insert(outcome.rows);
    }
    CHECK(rows_before.size() > 3);
  }
}

}  // namespace
}  // namespace stackpack::test
