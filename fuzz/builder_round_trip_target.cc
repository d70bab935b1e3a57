// The input is a program of pushes, pops and threads. What it interns goes the whole way (builder,
// segments, merge, writer, reader) and must come out as a std::map has it.
//
//   u8 options, u8 memory limit in units of 512 bytes above kLeastLimit, then operations
#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include "bytes/byte_cursor.h"
#include "dag/builder.h"
#include "dag/segment_merge.h"
#include "dag/segment_spill.h"
#include "fuzz/require.h"
#include "io/byte_source.h"
#include "io/output_file.h"
#include "spk/write/writer.h"
#include "stackpack/reader.h"

namespace stackpack::fuzz {

void builder_round_trip(std::span<const std::byte> data);

namespace {

using Stack = std::vector<Frame>;  // root first

constexpr std::size_t kMostFrames = 20'000;
constexpr std::size_t kMostStacks = 1'000;

// With less, a builder cannot hold its own caches at their largest, and takes no callstack.
constexpr std::uint64_t kLeastLimit = 2'500'000;

std::string scratch() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

// Interns in one builder after the other, as memory runs out or the input says.
class Segments {
 public:
  explicit Segments(std::uint64_t memory_limit) : limit_(memory_limit) {}

  void intern(const Stack& stack, std::uint64_t thread) {
    Result<dag::NodeIndex> node = try_intern(stack, thread);
    if (!node) {
      require(node.error().code == ErrorCode::kLimit);
      cut();
      node = try_intern(stack, thread);
    }
    if (!node) {  // not even an empty builder has room for it
      require(node.error().code == ErrorCode::kLimit && limit_ != 0);
      return;
    }
    ++model[stack];
    places.push_back({spill.segments().size(), *node, stack});
  }
  void cut() {
    require(limit_ == 0 || builder_->memory_bytes() <= limit_);
    require(spill.add(builder_->freeze()).has_value());
    builder_ = std::make_unique<dag::Builder>(dag::Builder::Options{limit_});
  }

  struct Place {
    std::size_t segment;
    dag::NodeIndex node;
    Stack stack;
  };
  std::map<Stack, std::uint64_t> model;
  std::vector<Place> places;
  dag::SegmentSpill spill{scratch()};

 private:
  Result<dag::NodeIndex> try_intern(const Stack& stack, std::uint64_t thread) {
    std::vector<std::uint64_t> addresses;
    std::vector<capture::ModeRun> runs;
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
      addresses.push_back(frame->address);
      if (runs.empty() || runs.back().mode != frame->mode) {
        runs.push_back({frame->mode, 0});
      }
      ++runs.back().count;
    }
    return builder_->intern({addresses, runs}, thread);
  }

  std::uint64_t limit_;
  std::unique_ptr<dag::Builder> builder_ =
      std::make_unique<dag::Builder>(dag::Builder::Options{limit_});
};

Frame frame_from(bytes::ByteCursor& in) {
  const auto byte = in.read<std::uint8_t>();
  const auto mode = static_cast<FrameMode>(byte % kFrameModeCount);
  switch (byte >> 6) {
    case 0:
      return {mode, in.read<std::uint8_t>()};
    case 1:
      return {mode, std::uint64_t{0x7F0000000000} + in.read<std::uint16_t>()};
    case 2:
      return {mode, ~std::uint64_t{0} - in.read<std::uint16_t>()};
    default:
      return {mode, in.read<std::uint64_t>()};
  }
}

void run_program(bytes::ByteCursor& in, Segments& segments) {
  std::vector<Stack> last(4);
  std::size_t frames = 0;
  std::size_t stacks = 0;
  while (in.ok() && in.remaining() != 0 && frames < kMostFrames && stacks < kMostStacks) {
    const unsigned operation = in.read<std::uint8_t>();
    Stack& stack = last[operation & 3];
    switch ((operation >> 2) % 8) {
      case 0:
        stack.resize(stack.size() - std::min<std::size_t>(stack.size(), operation >> 5));
        break;
      case 1:  // recursion
        stack.insert(stack.end(), operation, stack.empty() ? Frame{} : stack.back());
        break;
      case 2:
        segments.cut();
        break;
      default:
        stack.push_back(frame_from(in));
        break;
    }
    frames += stack.size();
    ++stacks;
    segments.intern(stack, operation & 3);
  }
  segments.cut();
}

spk::DagNode to_spk(const dag::MergedNode& node) {
  return {node.frame, node.depth, node.ends_stack};
}

Status write_nodes(const dag::SegmentMerge& merge, spk::Writer& writer,
                   Status (spk::Writer::*add)(std::span<const spk::DagNode>)) {
  std::vector<spk::DagNode> nodes;
  return merge.for_each_block([&](std::span<const dag::MergedNode> block) {
    nodes.clear();
    for (const dag::MergedNode& node : block) {
      nodes.push_back(to_spk(node));
    }
    return (writer.*add)(nodes);
  });
}

void write_file(const dag::SegmentMerge& merge, const std::string& path) {
  const auto out = io::OutputFile::create(path);
  require(out.has_value());
  const auto writer = spk::Writer::create(**out, {1, true});
  require(writer.has_value());
  spk::Writer& w = **writer;
  require(w.begin_dag().has_value());
  const auto add_frames = [&](std::span<const Frame> frames) { return w.add_frames(frames); };
  require(merge.for_each_frame_block(add_frames).has_value());
  require(write_nodes(merge, w, &spk::Writer::survey_nodes).has_value());
  require(w.begin_pages().has_value());
  require(write_nodes(merge, w, &spk::Writer::add_nodes).has_value());
  require(w.end_dag().has_value());
  const std::vector<Event> events{{"event", false}};
  Statistics statistics;
  statistics.events = {{"event", 0}};
  require(w.finish({}, events, statistics, "").has_value());
  require((*out)->commit().has_value());
}

void compare(const Reader& reader, const Segments& segments) {
  std::size_t wanted = segments.model.size();
  wanted -= segments.model.count(Stack{});
  require(reader.stack_count() == wanted);
  StackId id = 0;
  std::vector<Frame> frames;
  for (const auto& [stack, count] : segments.model) {  // map order is canonical order
    if (stack.empty()) {
      continue;
    }
    require(reader.callstack(id++, frames).has_value());
    require(Stack(frames.rbegin(), frames.rend()) == stack);
  }
}

}  // namespace

void builder_round_trip(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  const auto options = in.read<std::uint8_t>();
  const std::uint64_t limit = kLeastLimit + (std::uint64_t{in.read<std::uint8_t>()} << 9);
  Segments segments((options & 1) != 0 ? limit : 0);
  run_program(in, segments);
  dag::SegmentMerge merge(segments.spill, {scratch(), (options & 2) != 0 ? 1U << 16 : 0U});
  require(merge.run().has_value());
  const std::string path = scratch() + "/stackpack-round-trip-" + std::to_string(::getpid());
  write_file(merge, path);
  {
    const auto reader = Reader::open(path, {(options & 4) != 0 ? 1U : 1U << 20});
    require(reader.has_value());
    compare(**reader, segments);
    std::vector<Frame> frames;
    for (const Segments::Place& place : segments.places) {
      StackId id = 0;
      require(merge
                  .stack_of_node(place.segment, static_cast<std::uint32_t>(place.node),
                                 std::span(&id, 1))
                  .has_value());
      require((id == kNoStack) == place.stack.empty());
      if (id != kNoStack) {
        require((*reader)->callstack(id, frames).has_value());
        require(Stack(frames.rbegin(), frames.rend()) == place.stack);
      }
    }
    require((options & 8) == 0 || (*reader)->verify().has_value());
  }
  ::unlink(path.c_str());
}

}  // namespace stackpack::fuzz
