#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "codec/zstd_codec.h"
#include "dag/builder.h"
#include "spk/format/layout.h"
#include "spk/write/writer.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

using spk::DagNode;

std::vector<DagNode> nodes_of(const dag::FrozenDag& dag) {
  std::vector<DagNode> nodes;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    nodes.push_back({dag.frame[i], dag.depth[i], dag.ends(i)});
  }
  return nodes;
}

/// A writer on a scratch file.
class WriterFixture {
 public:
  explicit WriterFixture(const spk::WriterOptions& options = {})
      : path_(directory_.file("out.spk")),
        out_(std::move(io::OutputFile::create(path_)).value()),
        writer_(std::move(spk::Writer::create(*out_, options)).value()) {}

  spk::Writer& operator*() { return *writer_; }
  spk::Writer* operator->() { return writer_.get(); }
  std::vector<std::byte> finish(const SpkContent& content) {
    REQUIRE(writer_->finish(content.tables, content.events, statistics_of(content),
                            content.fingerprint));
    REQUIRE(out_->commit());
    return read_test_file(path_);
  }

 private:
  ScratchDirectory directory_;
  std::string path_;
  std::unique_ptr<io::OutputFile> out_;
  std::unique_ptr<spk::Writer> writer_;
};

/// What a writer is given in a file that is good, or just not.
struct Given {
  SpkContent content = random_content(5, 10, 40);
  std::vector<LossCounter> losses;
  std::uint64_t skipped_bytes = 0;
  std::vector<std::string> reasons{""};
  std::vector<WaitInterval> intervals{{7, 8, 10, 20}, {7, 8, 30, 40}};
  std::vector<ValueSchema> kinds{{"read", {{"bytes", ValueType::kBytes}}}};
  EventValue value;
  std::vector<std::string> texts{""};
  std::vector<ControlGroup> groups;
  std::vector<FieldRow> fields{{0}, {1}};
  std::vector<BranchEdge> edges{edge_from(1), edge_from(2)};
  Function function = kernel_function();

  void name_in_field(SampleField field, std::uint64_t row) {
    fields[0].present = 1U << static_cast<unsigned>(field);
    fields[0].values[static_cast<std::size_t>(field)] = row;
  }
  StoredSample& recorded_sample() {
    return *std::find_if(content.samples.begin(), content.samples.end(), [](const auto& sample) {
      return sample.origin == StackOrigin::kRecorded;
    });
  }
  static BranchEdge edge_from(std::uint64_t from) {
    BranchEdge edge;
    edge.from = from;
    edge.count = 1;
    return edge;
  }
  static Function kernel_function() {
    Function function;
    function.owner = FunctionOwner::kKernel;
    function.start = 100;
    function.size = 1;
    return function;
  }
};

void number_names(std::vector<LossCounter>& losses) {
  constexpr std::size_t kFirst = 100'000;  // numbers of one length ascend as texts
  for (std::size_t i = 0; i < losses.size(); ++i) {
    losses[i].name = std::to_string(kFirst + i);
  }
}

template <typename Rows, typename Writer>
Status add_all(const Rows& rows, Writer& writer) {
  Status status;
  for (const auto& row : rows) {
    status = status ? writer.add(row) : status;
  }
  return status;
}

/// What the writer says of it, or verify of what was written; nothing when all is good.
std::string outcome_of(const Given& given) {
  const ScratchDirectory directory;
  const std::string path = directory.file("out.spk");
  const auto out = std::move(io::OutputFile::create(path)).value();
  const auto writer = std::move(spk::Writer::create(*out, {})).value();
  REQUIRE(writer->write_dag(frozen_dag_of(given.content.stacks)));
  if (const Status added = writer->add_samples(given.content.samples); !added) {
    return failure(added);
  }
  Statistics statistics = statistics_of(given.content);
  statistics.losses = given.losses;
  statistics.source_skipped_bytes = given.skipped_bytes;
  const auto finished = writer->finish(
      given.content.tables, given.content.events, statistics, "test",
      [&](spk::BranchWriter& branches) { return add_all(given.edges, branches); },
      [&](spk::NameWriter& names) {
        return names.add(given.function, {"work", "", ""});
      },
      [&](spk::IntervalWriter& intervals) {
        const Status added = add_all(given.intervals, intervals);
        return added ? intervals.end(given.reasons) : added;
      },
      [&](spk::ValueWriter& values) {
        values.set_kinds(given.kinds);
        EventValue value = given.value;
        value.kind = static_cast<std::uint32_t>(given.kinds.size() - 1);
        const Status added = values.add(value);
        return added ? values.end(given.texts) : added;
      },
      [&](spk::FieldWriter& fields) {
        const Status added = add_all(given.fields, fields);
        return added ? fields.end(given.groups) : added;
      });
  if (!finished) {
    return failure(finished);
  }
  REQUIRE(out->commit());
  const auto reader = Reader::open(path);
  return reader ? failure((*reader)->verify()) : failure(reader);
}

ErrorCode code(const Status& status) {
  REQUIRE_FALSE(status.has_value());
  return status.error().code;
}

/// The node of a callstack in a builder.
std::uint32_t intern(dag::Builder& builder, const RootFirstStack& stack, std::uint64_t thread) {
  std::vector<std::uint64_t> addresses;
  std::vector<capture::ModeRun> runs;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    addresses.push_back(frame->address);
    runs.push_back({frame->mode, 1});
  }
  const auto node = builder.intern({addresses, runs}, thread);
  REQUIRE(node);
  return static_cast<std::uint32_t>(*node);
}

TEST_SUITE("spk writer") {
  TEST_CASE("spk writer: the bytes do not show in which order the callstacks arrived") {
    const SpkContent content = random_content(24, 3'000, 5'000);
    const std::vector<std::byte> expected = spk_bytes(content);
    const std::vector<RootFirstStack> stacks = list_of(content.stacks);
    std::vector<std::size_t> arrivals(stacks.size());
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      arrivals[i] = i;
    }
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      std::shuffle(arrivals.begin(), arrivals.end(), random);
      dag::Builder builder({});
      std::vector<std::uint32_t> nodes(stacks.size());
      for (const std::size_t stack : arrivals) {
        nodes[stack] = intern(builder, stacks[stack], random() % 5);
      }
      const dag::Builder::Frozen frozen = builder.freeze();
      WriterFixture writer;
      REQUIRE(writer->write_dag(frozen.dag));
      for (StoredSample sample : content.samples) {
        if (sample.stack != kNoStack) {
          sample.stack = frozen.stack_of_node[nodes[sample.stack]];
        }
        REQUIRE(writer->add_samples(std::span(&sample, 1)));
      }
      CHECK(writer.finish(content) == expected);
    }
  }

  TEST_CASE("spk writer: the same input gives the same bytes, in pieces or as a whole") {
    const SpkContent content = random_content(21, 3'000, 5'000);
    const std::vector<std::byte> whole = spk_bytes(content);
    CHECK(spk_bytes(content) == whole);

    const dag::FrozenDag dag = frozen_dag_of(content.stacks);
    const std::vector<DagNode> nodes = nodes_of(dag);
    WriterFixture writer;
    REQUIRE(writer->begin_dag());
    for (const Frame& frame : dag.dictionary) {
      REQUIRE(writer->add_frames(std::span(&frame, 1)));
    }
    for (const DagNode& node : nodes) {
      REQUIRE(writer->survey_nodes(std::span(&node, 1)));
    }
    REQUIRE(writer->begin_pages());
    REQUIRE(writer->add_nodes(std::span(nodes).first(777)));
    REQUIRE(writer->add_nodes(std::span(nodes).subspan(777)));
    REQUIRE(writer->end_dag());
    for (const StoredSample& sample : content.samples) {
      REQUIRE(writer->add_samples(std::span(&sample, 1)));
    }
    CHECK(writer.finish(content) == whole);
  }

  TEST_CASE("spk writer: the same bytes however little memory the table of edges may take") {
    const SpkContent content = random_content(24, 20'000, 100);
    const std::vector<std::byte> whole = spk_bytes(content);
    for (const std::uint64_t table_bytes : {1U, 1U << 18}) {
      spk::WriterOptions options;
      options.table_bytes = table_bytes;
      options.scratch_directory = std::filesystem::temp_directory_path().string();
      CHECK(spk_bytes(content, options) == whole);
    }
  }

  TEST_CASE("spk writer: levels change the size, not the content") {
    const SpkContent content = random_content(22, 2'000, 5'000);
    for (const int level : {1, 19, 22}) {
      const std::vector<std::byte> file = spk_bytes(content, {level, true});
      const auto reader = open_spk(file);
      CHECK(stacks_in(*reader) == list_of(content.stacks));
      CHECK(samples_in(*reader) == content.samples);
    }
  }

  TEST_CASE("spk writer: at each limit a file is good, and beyond it there is none but a line") {
    struct Case {
      std::string expected;
      std::function<void(Given&)> change;
    };
    const std::string kinds = "spk: too many or too large kinds of event values";
    const std::string names = "spk: a field of a sample names what is not there";
    const std::string interval = "spk: an interval of what is not there";
    const auto last_stack = [](const Given& g) {
      return static_cast<StackId>(g.content.stacks.size() - 1);
    };
    const auto function_of_module = [](std::uint32_t module) {
      Function function;
      function.owner = FunctionOwner::kImage;
      function.module = module;
      function.size = 1;
      return function;
    };
    const std::vector<Case> cases{
        {"", [](Given&) {}},
        {"", [](Given& g) { g.losses.resize(spk::kMaxSummaryRows), number_names(g.losses); }},
        {"spk: too many events or losses",
         [](Given& g) { g.losses.resize(spk::kMaxSummaryRows + 1), number_names(g.losses); }},
        {"spk: names of losses do not ascend",
         [](Given& g) {
           g.losses = {{"b", LossKind::kDamage}, {"a", LossKind::kDamage}};
         }},
        {"spk: parsed, padding and skipped bytes are not those of the capture",
         [](Given& g) { g.skipped_bytes = 2; }},
        {"", [](Given& g) { g.skipped_bytes = 1; }},
        {"spk: sources are not in order", [](Given& g) { g.content.tables.sources.resize(2); }},
        {"", [](Given& g) { g.content.tables.sources.resize(1); }},
        {"", [](Given& g) { g.reasons.resize(spk::kMaxWaitReasons); }},
        {"spk: too many reasons of waits",
         [](Given& g) { g.reasons.resize(spk::kMaxWaitReasons + 1); }},
        {"", [](Given& g) { g.intervals[1].from_ns = g.intervals[0].to_ns; }},
        {"spk: intervals of a thread overlap",
         [](Given& g) { g.intervals[1].from_ns = g.intervals[0].to_ns - 1; }},
        {"spk: intervals of a thread overlap", [](Given& g) { g.intervals[0].to_ns = 1; }},
        {"", [](Given& g) { g.kinds.resize(spk::kMaxValueKinds); }},
        {kinds, [](Given& g) { g.kinds.resize(spk::kMaxValueKinds + 1); }},
        {"", [](Given& g) { g.kinds[0].name.resize(spk::kMaxValueNameBytes); }},
        {kinds, [](Given& g) { g.kinds[0].name.resize(spk::kMaxValueNameBytes + 1); }},
        {"", [](Given& g) { g.kinds[0].fields.resize(spk::kMaxValueFields); }},
        {kinds, [](Given& g) { g.kinds[0].fields.resize(spk::kMaxValueFields + 1); }},
        {kinds,
         [](Given& g) {
           g.kinds[0].fields = {{std::string(spk::kMaxValueNameBytes + 1, 'x'), {}}};
         }},
        {"", [](Given& g) { g.texts.emplace_back(spk::kMaxNameBytes, 'x'); }},
        {"spk: a text of event values is too long",
         [](Given& g) { g.texts.emplace_back(spk::kMaxNameBytes + 1, 'x'); }},
        {"",
         [](Given& g) {
           g.groups = {{1, "/a"}, {2, "/a"}};
         }},
        {"spk: a control group comes twice",
         [](Given& g) {
           g.groups = {{1, "/a"}, {1, "/a"}};
         }},
        {"spk: fields of samples are not in order", [](Given& g) { g.fields[1].sample = 0; }},
        {"spk: branches are not in order", [](Given& g) { std::swap(g.edges[0], g.edges[1]); }},
        {"spk: branches are not in order",
         [](Given& g) { g.edges[0].mispredicted = g.edges[0].count + 1; }},
        {"", [](Given& g) { g.function.start = ~std::uint64_t{0} - g.function.size; }},
        {"spk: a function ends beyond the last address",
         [](Given& g) { g.function.start = ~std::uint64_t{0}; }},
        {"spk: samples are not in order of time",
         [](Given& g) { std::swap(g.content.samples.front(), g.content.samples.back()); }},
        {"spk: sample whose origin does not fit its callstack",
         [](Given& g) { g.recorded_sample().origin = StackOrigin::kNone; }},
        {"spk: sample whose origin does not fit its callstack",
         [](Given& g) { g.recorded_sample().stack = kNoStack; }},
        {"spk: sample with an unknown flag",
         [](Given& g) { g.recorded_sample().flags |= spk::kUnwoundFlag; }},
        {"", [](Given& g) { g.fields[1].sample = g.content.samples.size() - 1; }},
        {"spk: fields of a sample that is not there",
         [](Given& g) { g.fields[1].sample = g.content.samples.size(); }},
        {"",
         [](Given& g) {
           g.groups = {{1, "/a"}};
           g.name_in_field(SampleField::kControlGroup, 0);
         }},
        {names,
         [](Given& g) {
           g.groups = {{1, "/a"}};
           g.name_in_field(SampleField::kControlGroup, 1);
         }},
        {names, [](Given& g) { g.name_in_field(SampleField::kLabelSet, 0); }},
        {names, [](Given& g) { g.name_in_field(SampleField::kLabelSet, ~std::uint64_t{0}); }},
        {names, [](Given& g) { g.name_in_field(SampleField::kBranchStack, 0); }},
        {names, [](Given& g) { g.name_in_field(SampleField::kBranchCycles, 0); }},
        {"", [&](Given& g) { g.intervals[0].stack = last_stack(g); }},
        {interval, [&](Given& g) { g.intervals[0].stack = last_stack(g) + 1; }},
        {interval, [&](Given& g) { g.intervals[1].waker_stack = last_stack(g) + 1; }},
        {interval, [](Given& g) { g.intervals[1].waker = 1; }},
        {"", [](Given& g) { g.reasons.emplace_back("b"), g.intervals[0].reason = 1; }},
        {"spk: an interval of a reason that is not there",
         [](Given& g) { g.intervals[0].reason = 1; }},
        {"", [&](Given& g) { g.value.stack = last_stack(g); }},
        {"spk: an event value of what is not there",
         [&](Given& g) { g.value.stack = last_stack(g) + 1; }},
        {"", [](Given& g) { g.kinds[0].fields[0].type = ValueType::kText; }},
        {"spk: an event value of a text that is not there",
         [](Given& g) {
           g.kinds[0].fields[0].type = ValueType::kText;
           g.value.values[0] = 1;
         }},
        {"",
         [&](Given& g) {
           g.content.tables.modules.resize(1);
           g.function = function_of_module(0);
         }},
        {"spk: a function of a module that is not there",
         [&](Given& g) {
           g.content.tables.modules.resize(1);
           g.function = function_of_module(1);
         }},
        {"spk: a function of an owner that has none", [](Given& g) { g.function.pid = 7; }},
        {"spk: a function of an owner that has none", [](Given& g) { g.function.life_ns = 7; }},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      Given given;
      cases[i].change(given);
      CHECK(outcome_of(given) == cases[i].expected);
    }
  }

  TEST_CASE("spk writer: every section is whole zstd frames") {
    const std::vector<std::byte> file = spk_bytes(random_content(23, 5'000, 3'000));
    codec::ZstdStream stream;
    std::span<const std::byte> rest(file);
    std::vector<std::byte> content;
    while (!rest.empty()) {
      const std::size_t before = rest.size();
      content.clear();
      const auto decoded = stream.decode(rest, 1 << 20, content);
      REQUIRE(decoded.has_value());
      REQUIRE((rest.size() < before || !content.empty()));
    }
  }

  TEST_CASE("spk writer: calls out of order are refused") {
    const dag::FrozenDag dag = frozen_dag_of({{{FrameMode::kUser, 1}}});
    const std::vector<DagNode> nodes = nodes_of(dag);
    const std::vector<StoredSample> samples(1);
    WriterFixture writer;
    CHECK(code(writer->add_frames(dag.dictionary)) == ErrorCode::kUsage);
    CHECK(code(writer->survey_nodes(nodes)) == ErrorCode::kUsage);
    CHECK(code(writer->begin_pages()) == ErrorCode::kUsage);
    CHECK(code(writer->add_nodes(nodes)) == ErrorCode::kUsage);
    CHECK(code(writer->end_dag()) == ErrorCode::kUsage);
    CHECK(code(writer->add_samples(samples)) == ErrorCode::kUsage);
    CHECK_FALSE(writer->finish({}, {}, {}, "").has_value());
    REQUIRE(writer->write_dag(dag));
    CHECK(code(writer->write_dag(dag)) == ErrorCode::kUsage);
    CHECK(code(writer->add_frames(dag.dictionary)) == ErrorCode::kUsage);
    CHECK(code(writer->survey_nodes(nodes)) == ErrorCode::kUsage);
    REQUIRE(writer->finish({}, {}, {}, "").has_value());
    CHECK(code(writer->add_samples(samples)) == ErrorCode::kUsage);
    CHECK_FALSE(writer->finish({}, {}, {}, "").has_value());
  }

  TEST_CASE("spk writer: nodes not in canonical order are refused") {
    const std::vector<Frame> dictionary{{FrameMode::kUser, 1}, {FrameMode::kUser, 2}};
    const std::vector<std::vector<DagNode>> bad{
        {{0, 2, true}},                               // no parent
        {{0, 0, true}},                               // the root
        {{2, 1, true}},                               // no such frame
        {{1, 1, true}, {0, 1, true}},                 // siblings descend
        {{1, 1, true}, {1, 1, true}},                 // the same twice
        {{0, 1, false}, {1, 2, true}, {1, 2, true}},  // the same twice below
    };
    for (const std::vector<DagNode>& nodes : bad) {
      WriterFixture writer;
      REQUIRE(writer->begin_dag());
      REQUIRE(writer->add_frames(dictionary));
      CHECK(code(writer->survey_nodes(nodes)) == ErrorCode::kUsage);
    }
    WriterFixture unsorted;
    REQUIRE(unsorted->begin_dag());
    REQUIRE(unsorted->add_frames(std::span(dictionary).last(1)));
    CHECK(code(unsorted->add_frames(std::span(dictionary).first(1))) == ErrorCode::kUsage);
    WriterFixture changed;  // other nodes the second time
    const std::vector<DagNode> first{{0, 1, true}, {1, 1, true}};
    const std::vector<DagNode> second{{0, 1, true}, {1, 1, false}};
    REQUIRE(changed->begin_dag());
    REQUIRE(changed->add_frames(dictionary));
    REQUIRE(changed->survey_nodes(first));
    REQUIRE(changed->begin_pages());
    REQUIRE(changed->add_nodes(second));
    CHECK(code(changed->end_dag()) == ErrorCode::kUsage);
  }

  TEST_CASE("spk writer: samples of unknown stacks and events are refused") {
    const dag::FrozenDag dag = frozen_dag_of({{{FrameMode::kUser, 1}}});
    std::vector<StoredSample> samples(1);
    samples[0].stack = 1;
    samples[0].origin = StackOrigin::kIpOnly;
    WriterFixture writer;
    REQUIRE(writer->write_dag(dag));
    CHECK(code(writer->add_samples(samples)) == ErrorCode::kUsage);
    samples[0].stack = 0;
    REQUIRE(writer->add_samples(samples));
    CHECK_FALSE(writer->finish({}, {}, {}, "").has_value());  // no events
  }

  TEST_CASE("spk writer: without samples it keeps their counts") {
    const SpkContent content = random_content(24, 300, 20'000);
    using Key = std::tuple<StackId, std::uint32_t, std::uint32_t, StackOrigin>;
    std::map<Key, std::pair<std::uint64_t, std::uint64_t>> model;
    for (const StoredSample& sample : content.samples) {
      auto& [count, weight] = model[{sample.stack, sample.event, sample.pid, sample.origin}];
      ++count;
      weight = weight > ~sample.weight ? ~std::uint64_t{0} : weight + sample.weight;
    }
    const std::vector<std::byte> file = spk_bytes(content, {9, false});
    const auto reader = open_spk(file);
    CHECK_FALSE(reader->has_samples());
    CHECK(stacks_in(*reader) == list_of(content.stacks));
    CHECK_FALSE(samples_in(*reader).has_value());
    const auto counts = reader->stack_counts();
    REQUIRE(counts.has_value());
    REQUIRE(counts->size() == model.size());
    auto expected = model.begin();
    for (const StackCount& row : counts.value()) {
      CHECK(Key(row.stack, row.event, row.pid, row.origin) == expected->first);
      CHECK(std::pair(row.samples, row.weight) == expected->second);
      ++expected;
    }
    CHECK(failure(reader->verify()).empty());
    CHECK_FALSE(open_spk(spk_bytes(content))->stack_counts().has_value());
  }
}

}  // namespace
}  // namespace stackpack::test
