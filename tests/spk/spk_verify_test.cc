// Verification: every rule of docs/format.md that a file with right checksums can break, one by
// one.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/layout.h"
#include "spk/format/summary.h"
#include "spk/format/table_codec.h"
#include "spk/write/sample_block_encoder.h"
#include "support/spk_reading.h"
#include "support/spk_recipe.h"
#include "support/spk_surgery.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;
using spk::SectionKind;

SpkContent whole_content() {
  SpkContent content = random_content(3, 12, 120);
  content.tables.processes = {{7, 1, kUnknownTime, 30, false, "before", ""},
                              {7, 1, 30, 40, true, "after", "after --all"},
                              {8, 7, 50, kUnknownTime, true, "child", ""}};
  content.tables.threads = {{7, 7, kUnknownTime, 30, "before"},
                            {7, 7, 30, 40, "after"},
                            {7, 9, 35, kUnknownTime, "worker"}};
  content.tables.modules = {
      {7, 0x1000, 0x1000, 0, 5, 9, "/bin/a", BuildIdKind::kGnu, {1, 2, 3}, ""},
      {7, 0x1000, 0x1000, 0, 9, kUnknownTime, "/bin/b", BuildIdKind::kNone, {}, ""},
      {7, 0x3000, 0x1000, 0, kUnknownTime, 9, "c.dll", BuildIdKind::kPdb,
       std::vector<std::uint8_t>(20, 5), "c.pdb"}};
  content.tables.metadata = {{"a", "1"}, {"b", "2"}};
  content.losses = {{"lost_first", LossKind::kRecorder, 3, 99},
                    {"lost_second", LossKind::kDamage, 1, 5}};
  return content;
}

StoredSample& recorded_in(SpkContent& content) {
  const auto found =
      std::find_if(content.samples.begin(), content.samples.end(),
                   [](const auto& sample) { return sample.origin == StackOrigin::kRecorded; });
  REQUIRE(found != content.samples.end());
  return *found;
}

std::string verdict(const Bytes& file) {
  const auto reader = Reader::open_memory(file);
  return reader ? failure(reader.value()->verify()) : failure(reader);
}

SpkRecipe recipe_of(const Bytes& file) {
  std::optional<SpkRecipe> recipe = take_recipe(file);
  REQUIRE(recipe.has_value());
  return std::move(*recipe);
}

SpkRecipe::Section& section_of(SpkRecipe& recipe, SectionKind kind) {
  for (SpkRecipe::Section& section : recipe.sections) {
    if (section.record.kind == static_cast<std::uint32_t>(kind)) {
      return section;
    }
  }
  FAIL("no such section");
  return recipe.sections.front();
}

/// The content of a block in the bytes of a file.
Bytes block_bytes(const spk::BlockContent& content) {
  Bytes bytes;
  for (const std::span<const std::byte> part : content.parts()) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

/// The file with other rows in a table, sizes and checksums right.
template <typename Row>
void put_rows(SpkRecipe& recipe, SectionKind kind, const std::vector<Row>& rows) {
  spk::BlockContent content;
  spk::encode_rows(std::span<const Row>(rows), content);
  SpkRecipe::Section& section = section_of(recipe, kind);
  section.blocks.assign(1, block_bytes(content));
  section.record.items = rows.size();
}

/// The file with other samples, of one block, in whatever order.
void put_samples(SpkRecipe& recipe, const std::vector<StoredSample>& samples) {
  spk::BlockContent head;
  spk::BlockContent body;
  spk::SampleBlockEncoder().encode(samples, head, body);
  section_of(recipe, SectionKind::kSamples).blocks = {block_bytes(head), block_bytes(body)};
}

/// What the writer says of a content.
std::string refusal(const SpkContent& content) {
  const ScratchDirectory directory;
  return failure(write_spk(content, {}, directory.file("file.spk")));
}

/// The file with another summary, sizes and checksums right.
Bytes with_summary(const Bytes& good, const std::function<void(Statistics&)>& change) {
  SpkRecipe recipe = recipe_of(good);
  Bytes& block = section_of(recipe, SectionKind::kSummary).blocks.at(0);
  Statistics statistics;
  std::string fingerprint;
  REQUIRE(spk::decode_summary(bytes::ByteCursor(block, 0), statistics, fingerprint));
  change(statistics);
  spk::BlockContent content;
  spk::encode_summary(statistics, fingerprint, content);
  block = block_bytes(content);
  return cook(std::move(recipe));
}

/// With the sizes that cook() makes in the summary, where `good` has those of its writer.
Bytes cooked_anew(const Bytes& good) {
  const Bytes cooked = cook(recipe_of(good));
  const SpkParts parts = take_apart(cooked);
  std::uint64_t dag = 0;
  std::uint64_t samples = 0;
  for (const spk::SectionRecord& section : parts.directory.sections) {
    const std::uint64_t bytes = section.stored_bytes + spk::kSectionRecordBytes +
                                section.blocks.size() * spk::kBlockRecordBytes;
    const auto kind = static_cast<SectionKind>(section.kind);
    dag += kind >= SectionKind::kFrames && kind <= SectionKind::kPageIndex ? bytes : 0;
    samples += kind >= SectionKind::kSamples && kind <= SectionKind::kStackCounts ? bytes : 0;
  }
  return with_summary(cooked, [&](Statistics& statistics) {
    statistics.dag.stored_bytes = dag;
    statistics.sample_stream_bytes = samples;
  });
}

Bytes good_file(bool samples = true) {
  spk::WriterOptions options;
  options.samples = samples;
  const Bytes good = cooked_anew(spk_bytes(whole_content(), options));
  REQUIRE(verdict(good).empty());
  return good;
}

struct Figure {
  std::string name;
  std::uint64_t& (*in)(Statistics&);
};
#define STACKPACK_FIGURE(member)                                       \
  {                                                                    \
#member, [](Statistics & s) -> std::uint64_t& { return s.member; } \
  }

TEST_SUITE("spk verify") {
  TEST_CASE("verify: every figure of the summary that the file can show is compared") {
    const std::vector<Figure> figures{
        STACKPACK_FIGURE(samples.total),
        STACKPACK_FIGURE(samples.recorded),
        STACKPACK_FIGURE(samples.ip_only),
        STACKPACK_FIGURE(samples.none),
        STACKPACK_FIGURE(samples.empty_chains),
        STACKPACK_FIGURE(samples.stack_dump_only),
        STACKPACK_FIGURE(samples.unwound),
        STACKPACK_FIGURE(callstacks.raw_frames),
        STACKPACK_FIGURE(callstacks.unique),
        STACKPACK_FIGURE(callstacks.unique_frames),
        STACKPACK_FIGURE(callstacks.unique_leaf_frames),
        STACKPACK_FIGURE(callstacks.max_depth),
        STACKPACK_FIGURE(callstacks.stored),
        STACKPACK_FIGURE(dag.nodes),
        STACKPACK_FIGURE(dag.distinct_frames),
        STACKPACK_FIGURE(dag.pages),
        STACKPACK_FIGURE(dag.stored_bytes),
        STACKPACK_FIGURE(sample_stream_bytes),
        STACKPACK_FIGURE(processes),
        STACKPACK_FIGURE(threads),
        STACKPACK_FIGURE(modules),
        STACKPACK_FIGURE(events.at(0).samples),
        STACKPACK_FIGURE(events.at(1).samples),
        STACKPACK_FIGURE(source_parsed_bytes),
        STACKPACK_FIGURE(source_padding_bytes),
        STACKPACK_FIGURE(source_skipped_bytes),
    };
    const Bytes good = with_summary(good_file(), [](Statistics& statistics) {
      statistics.source_bytes = 100;
      statistics.source_parsed_bytes = 80;
      statistics.source_padding_bytes = 15;
      statistics.source_skipped_bytes = 5;
      statistics.source_skipped_by_reason = {{"bad_records", 2}, {"record_cut", 3}};
    });
    REQUIRE(verdict(good).empty());
    for (const Figure& figure : figures) {
      CAPTURE(figure.name);
      CHECK(verdict(with_summary(good, [&](Statistics& s) { ++figure.in(s); })) != "");
      CHECK(verdict(with_summary(good, [&](Statistics& s) { --figure.in(s); })) != "");
    }
    CHECK(verdict(with_summary(good, [](Statistics& s) { ++s.source_bytes; })) ==
          "spk: parsed, padding and skipped bytes are not those of the capture");
    CHECK(verdict(with_summary(good, [](Statistics& s) { s.source_parsed_bytes -= 115; })) ==
          "spk: parsed, padding and skipped bytes are not those of the capture");
    CHECK(verdict(with_summary(good, [](Statistics& s) {
            s.source_skipped_by_reason.front().bytes = 3;
          })) == "spk: skipped bytes do not add up");
  }

  TEST_CASE("verify: numbers of the summary that only older writers used are not looked at") {
    const Bytes good = good_file();
    REQUIRE(verdict(good).empty());
    for (const std::size_t number : {16U, 19U, 20U, 21U, 22U, 23U, 24U}) {
      CAPTURE(number);
      SpkRecipe recipe = recipe_of(good);
      section_of(recipe, SectionKind::kSummary).blocks.at(0).at(1 + 8 * number) = std::byte{9};
      CHECK(verdict(cook(std::move(recipe))).empty());
    }
  }

  TEST_CASE("verify: without samples, figures are compared or have a bound") {
    const std::vector<Figure> exact{
        STACKPACK_FIGURE(samples.total),
        STACKPACK_FIGURE(samples.recorded),
        STACKPACK_FIGURE(samples.none),
        STACKPACK_FIGURE(callstacks.raw_frames),
        STACKPACK_FIGURE(callstacks.unique_leaf_frames),
        STACKPACK_FIGURE(sample_stream_bytes),
    };
    const Bytes good = good_file(false);
    for (const Figure& figure : exact) {
      CAPTURE(figure.name);
      CHECK(verdict(with_summary(good, [&](Statistics& s) { ++figure.in(s); })) != "");
    }
    CHECK(verdict(with_summary(good, [](Statistics& s) {
            s.samples.empty_chains = s.samples.total;
          })).empty());
    CHECK(verdict(with_summary(good, [](Statistics& s) {
            s.samples.empty_chains = s.samples.total + 1;
          })) == "spk: statistics do not fit the samples");
    CHECK(verdict(with_summary(good, [](Statistics& s) {
            s.samples.stack_dump_only = s.samples.none + s.samples.ip_only;
          })).empty());
    CHECK(verdict(with_summary(good, [](Statistics& s) {
            s.samples.stack_dump_only = s.samples.none + s.samples.ip_only + 1;
          })) == "spk: statistics do not fit the samples");
  }

  TEST_CASE("verify: tables are in order, keys come once, nothing ends before it begins") {
    struct Case {
      std::string expected;
      std::function<void(capture::SystemTables&)> change;
    };
    using Tables = capture::SystemTables;
    const std::vector<Case> cases{
        {"", [](Tables&) {}},
        {"spk: processes are not in order",
         [](Tables& t) { std::swap(t.processes[1], t.processes[2]); }},
        {"spk: processes are not in order",
         [](Tables& t) { std::swap(t.processes[0], t.processes[1]); }},
        {"spk: two processes have the same id and start",
         [](Tables& t) { t.processes[0].start_ns = 30; }},
        {"spk: a process ends before it starts", [](Tables& t) { t.processes[1].end_ns = 29; }},
        {"", [](Tables& t) { t.processes[1].end_ns = 30; }},
        {"spk: threads are not in order", [](Tables& t) { std::swap(t.threads[1], t.threads[2]); }},
        {"spk: threads are not in order", [](Tables& t) { std::swap(t.threads[0], t.threads[1]); }},
        {"spk: two threads have the same ids and start",
         [](Tables& t) { t.threads[0].start_ns = 30; }},
        {"", [](Tables& t) { t.threads[1].tid = 8; }},
        {"spk: a thread ends before it starts", [](Tables& t) { t.threads[1].end_ns = 29; }},
        {"spk: modules are not in order", [](Tables& t) { std::swap(t.modules[1], t.modules[2]); }},
        {"spk: modules are not in order", [](Tables& t) { std::swap(t.modules[0], t.modules[1]); }},
        {"", [](Tables& t) { t.modules[0].start_ns = 9; }},
        {"spk: a module ends before it starts", [](Tables& t) { t.modules[0].end_ns = 4; }},
        {"spk: a module's build id is not of its kind",
         [](Tables& t) { t.modules[1].build_id = {1}; }},
        {"spk: a module's build id is not of its kind",
         [](Tables& t) { t.modules[2].build_id.pop_back(); }},
        {"spk: metadata keys do not ascend",
         [](Tables& t) { std::swap(t.metadata[0], t.metadata[1]); }},
        {"spk: metadata keys do not ascend", [](Tables& t) { t.metadata[1].key = "a"; }},
    };
    const Bytes good = good_file();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      SpkContent content = whole_content();
      cases[i].change(content.tables);
      SpkRecipe recipe = recipe_of(good);
      put_rows(recipe, SectionKind::kProcesses, content.tables.processes);
      put_rows(recipe, SectionKind::kThreads, content.tables.threads);
      put_rows(recipe, SectionKind::kModules, content.tables.modules);
      put_rows(recipe, SectionKind::kMetadata, content.tables.metadata);
      CHECK(verdict(cook(std::move(recipe))) == cases[i].expected);
      CHECK(refusal(content) == cases[i].expected);
    }
  }

  TEST_CASE("verify: files of modules come back, are of modules without a build id, and ascend") {
    SpkContent content = whole_content();
    content.tables.modules[0].file = {1, 2, 3, 4};  // not kept: it has a build id
    content.tables.modules[1].file = {8, 1, 4711, 99};
    const Bytes file = spk_bytes(content);
    CHECK(verdict(file).empty());
    const auto modules = Reader::open_memory(file).value()->modules();
    REQUIRE(modules.has_value());
    CHECK((*modules)[0].file == MappedFile{});
    CHECK((*modules)[1].file == MappedFile{8, 1, 4711, 99});
    const Bytes good = cooked_anew(file);
    const auto with = [&good](const std::vector<spk::ModuleFile>& rows) {
      SpkRecipe recipe = recipe_of(good);
      put_rows(recipe, SectionKind::kModuleFiles, rows);
      return verdict(cook(std::move(recipe)));
    };
    CHECK(with({{1, 8, 1, 4711, 99}}).empty());
    for (const spk::ModuleFile& bad :
         {spk::ModuleFile{0, 8, 1, 4711, 0}, spk::ModuleFile{1, 8, 1, 0, 0},
          spk::ModuleFile{3, 8, 1, 4711, 0}}) {
      CHECK(with({bad}) == "spk: a file of a module that has none");
    }
    CHECK(with({{1, 8, 1, 4711, 0}, {1, 8, 1, 4711, 0}}) == "spk: files of modules do not ascend");
    CHECK(with(std::vector<spk::ModuleFile>(4, {1, 8, 1, 4711, 0})) ==
          "spk: files of more modules than there are");
  }

  TEST_CASE("verify: names of losses and of reasons ascend") {
    const Bytes good = good_file();
    CHECK(verdict(with_summary(good, [](Statistics& s) { std::swap(s.losses[0], s.losses[1]); })) ==
          "spk: names of losses do not ascend");
    CHECK(verdict(with_summary(good, [](Statistics& s) { s.losses[1].name = "lost_first"; })) ==
          "spk: names of losses do not ascend");
    CHECK(verdict(with_summary(good, [](Statistics& s) {
            s.source_skipped_by_reason = {{"b", 0}, {"a", 0}};
          })) == "spk: reasons of skipped bytes do not ascend");
  }

  TEST_CASE("verify: samples are in order of time, and their origins fit") {
    const Bytes good = good_file();
    const auto with = [&good](const SpkContent& content) {
      SpkRecipe recipe = recipe_of(good);
      put_samples(recipe, content.samples);
      return verdict(cook(std::move(recipe)));
    };
    CHECK(with(whole_content()).empty());
    SpkContent content = whole_content();
    std::swap(content.samples.front(), content.samples.back());
    CHECK(with(content) == "spk: samples are not in order of time");
    content = whole_content();
    recorded_in(content).origin = StackOrigin::kNone;
    CHECK(with(content) == "spk: sample whose origin does not fit its callstack");
  }

  TEST_CASE("verify: counts ascend and are of something") {
    const Bytes good = good_file(false);
    const auto with_counts = [&good](const std::function<void(std::vector<StackCount>&)>& change) {
      SpkRecipe recipe = recipe_of(good);
      const auto reader = open_spk(good);
      std::vector<StackCount> rows = reader->stack_counts().value();
      change(rows);
      put_rows(recipe, SectionKind::kStackCounts, rows);
      return cook(std::move(recipe));
    };
    CHECK(verdict(with_counts([](auto& rows) { std::swap(rows[0], rows[1]); })) ==
          "spk: counts of callstacks do not ascend");
    CHECK(verdict(with_counts([](auto& rows) { rows.insert(rows.begin(), rows[0]); })) ==
          "spk: counts of callstacks do not ascend");
    CHECK(verdict(with_counts([](auto& rows) { rows[0].samples = 0; })) ==
          "spk: count of no samples");
  }

  TEST_CASE("verify: a page goes on where the one before it ends") {
    // Three whole pages of callstacks of one frame each.
    constexpr std::uint64_t kStacks = 3 * spk::kNodesPerPage;
    SpkContent content;
    for (std::uint64_t i = 0; i < kStacks; ++i) {
      content.stacks.insert({{FrameMode::kUser, 0x1000 + i}});
    }
    for (StackId stack = 0; stack < kStacks; ++stack) {
      StoredSample& sample = content.samples.emplace_back();
      sample.stack = stack;
      sample.time_ns = stack;
      sample.origin = StackOrigin::kRecorded;
    }
    const Bytes good = spk_bytes(content);
    REQUIRE(verdict(good).empty());
    // The nodes of the second and third change places; each page still says what it is.
    constexpr std::ptrdiff_t kNumbers = 4;  // two numbers below 2^14
    SpkRecipe recipe = recipe_of(good);
    auto& pages = section_of(recipe, SectionKind::kPages).blocks;
    REQUIRE(pages.size() == 3);
    REQUIRE(pages[1].size() == pages[2].size());
    std::swap_ranges(pages[1].begin() + kNumbers, pages[1].end(), pages[2].begin() + kNumbers);
    CHECK(verdict(cook(std::move(recipe))) == "spk: page does not follow the page before");
  }

  TEST_CASE("verify: the index of the samples is that of its blocks") {
    const Bytes good = good_file();
    struct Case {
      std::string expected;
      std::function<void(SpkRecipe&)> change;
    };
    const std::string times = "spk: samples: times are not those of the index";
    const std::vector<Case> cases{
        {times, [](SpkRecipe& r) { ++r.samples.at(0).from_ns; }},
        {times, [](SpkRecipe& r) { --r.samples.at(0).from_ns; }},
        {times, [](SpkRecipe& r) { ++r.samples.at(0).to_ns; }},
        {times, [](SpkRecipe& r) { --r.samples.at(0).to_ns; }},
        {"spk: sample index: sums",
         [](SpkRecipe& r) { ++section_of(r, SectionKind::kSamples).record.items; }},
        {"spk: sample index: sums",
         [](SpkRecipe& r) { ++section_of(r, SectionKind::kSampleIndex).record.items; }},
        {"spk: sample index: sums",
         [](SpkRecipe& r) {  // a block that nobody lists
           auto& blocks = section_of(r, SectionKind::kSamples).blocks;
           blocks.emplace_back();
         }},
        {"spk: samples: head",
         [](SpkRecipe& r) {
           ++r.samples.at(0).samples;
           ++section_of(r, SectionKind::kSamples).record.items;
         }},
        {"spk: edges: number of edges",
         [](SpkRecipe& r) { ++section_of(r, SectionKind::kEdges).record.items; }},
        {"spk: edges: too many",
         [](SpkRecipe& r) {
           section_of(r, SectionKind::kEdges).record.items = spk::kMaxEdges + 1;
         }},
        {"spk: table: number of rows",
         [](SpkRecipe& r) { ++section_of(r, SectionKind::kModules).record.items; }},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      SpkRecipe recipe = recipe_of(good);
      cases[i].change(recipe);
      CHECK(verdict(cook(std::move(recipe))) == cases[i].expected);
    }
  }

  TEST_CASE("verify: the hash of the summary is compared when the file is opened") {
    SpkParts parts = take_apart(good_file());
    parts.section(SectionKind::kSummary).blocks.at(0).hash ^= 1;
    const Bytes file = parts.join();
    const auto reader = Reader::open_memory(file);
    REQUIRE_FALSE(reader.has_value());
    CHECK(reader.error().what == "spk: summary is damaged");
  }
}

#undef STACKPACK_FIGURE

}  // namespace
}  // namespace stackpack::test
