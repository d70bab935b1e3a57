#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
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
