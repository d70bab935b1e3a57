#include "dag/segment_merge.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "bytes/byte_writer.h"
#include "core/merge_heap.h"
#include "dag/ascending_lists.h"

namespace stackpack::dag {
namespace {

constexpr std::uint64_t kLeastBuffer = 4096;
constexpr std::size_t kChunkIds = 1024;    // stack ids that a segment collects before they go out
constexpr std::size_t kBlockNodes = 4096;  // of for_each_block
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::size_t kBlockFrames = 4096;  // of for_each_frame_block
constexpr std::uint64_t kMostFrames = 0xffff'ffff;
constexpr std::size_t kLongestMerged = 10;  // bytes: two numbers of at most 5

}  // namespace

// What the merge writes: the encoded nodes, and the new ids of every segment's callstacks.
class SegmentMerge::MergedNodes {
 public:
  MergedNodes(SegmentMerge& owner, std::size_t segments)
      : owner_(owner), ids_(segments), chunks_(segments) {}

  // The node of the next merged position; `segments` in which a callstack ends there.
  Status add(std::uint32_t frame, std::uint16_t depth, std::span<const std::size_t> ending) {
    const std::uint64_t pops = std::uint64_t{last_depth_} + 1 - depth;
    nodes_.write_varint(pops << 1 | (ending.empty() ? 0 : 1));
    nodes_.write_varint(bytes::zigzag_encode(std::int64_t{frame} - std::int64_t{last_frame_}));
    last_depth_ = depth;
    last_frame_ = frame;
    ++owner_.node_count_;
    if (!ending.empty()) {
      if (owner_.stack_count_ == kNoStack) {
        return Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 distinct callstacks"};
      }
      for (const std::size_t segment : ending) {
        if (const Status noted = note(segment, owner_.stack_count_); !noted) {
          return noted.error();
        }
      }
      ++owner_.stack_count_;
    }
    return nodes_.size() < kBlockBytes ? Status() : flush_nodes();
  }

  Status finish() {
    if (const Status flushed = flush_nodes(); !flushed) {
      return flushed.error();
    }
    for (std::size_t segment = 0; segment < ids_.size(); ++segment) {
      if (const Status flushed = flush_ids(segment); !flushed) {
        return flushed.error();
      }
    }
    return {};
  }

  // The new ids of a segment's callstacks, in the order of the old ones.
  Status read_ids(std::size_t segment, std::vector<StackId>& ids) const {
    const std::vector<std::uint64_t>& chunks = chunks_[segment];
    for (std::size_t i = 0; i * kChunkIds < ids.size(); ++i) {
      const std::size_t count = std::min(kChunkIds, ids.size() - i * kChunkIds);
      const auto into = std::span(ids).subspan(i * kChunkIds, count);
      if (const Status read = owner_.id_file_.read_at(chunks[i], std::as_writable_bytes(into));
          !read) {
        return read.error();
      }
    }
    return {};
  }

 private:
  Status note(std::size_t segment, StackId id) {
    ids_[segment].push_back(id);
    return ids_[segment].size() < kChunkIds ? Status() : flush_ids(segment);
  }

  Status flush_ids(std::size_t segment) {
    const Result<std::uint64_t> at =
        owner_.id_file_.append(std::as_bytes(std::span(ids_[segment])));
    if (!at) {
      return at.error();
    }
    chunks_[segment].push_back(*at);
    ids_[segment].clear();
    return {};
  }

  Status flush_nodes() {
    const Result<std::uint64_t> at = owner_.node_file_.append(nodes_.bytes());
    if (!at) {
      return at.error();
    }
    nodes_.clear();
    return {};
  }

  SegmentMerge& owner_;
  bytes::ByteWriter nodes_;
  std::uint16_t last_depth_ = 0;
  std::uint32_t last_frame_ = 0;
  std::vector<std::vector<StackId>> ids_;
  std::vector<std::vector<std::uint64_t>> chunks_;  // offsets of kChunkIds ids each
};

SegmentMerge::SegmentMerge(const SegmentSpill& spill, const Options& options)
    : spill_(spill),
      options_(options),
      node_file_(options.directory),
      id_file_(options.directory),
      dictionary_file_(options.directory) {}

std::uint64_t SegmentMerge::buffer_share() const {
  const std::uint64_t segments = std::max<std::uint64_t>(1, spill_.segments().size());
  return std::max(kLeastBuffer, options_.buffer_bytes / segments);
}

Status SegmentMerge::run() {
  MergedNodes merged_nodes(*this, spill_.segments().size());
  {
    std::vector<std::uint64_t> counts;  // of distinct frames, by segment
    for (const Segment& segment : spill_.segments()) {
      counts.push_back(segment.frames.count);
    }
    AscendingLists indices(options_.directory, options_.index_bytes, counts);
    if (const Status merged = merge_dictionaries(indices); !merged) {
      return merged.error();
    }
    if (const Status merged = merge_nodes(indices, merged_nodes); !merged) {
      return merged.error();
    }
  }
  for (std::size_t segment = 0; segment < spill_.segments().size(); ++segment) {
    if (const Status written = write_maps(segment, merged_nodes); !written) {
      return written.error();
    }
  }
  return {};
}

Status SegmentMerge::merge_dictionaries(AscendingLists& indices) {
  const std::size_t count = spill_.segments().size();
  std::vector<SpilledFrameReader> readers;
  std::vector<Frame> heads(count);
  const auto before = [&](std::size_t a, std::size_t b) { return heads[a] < heads[b]; };
  core::MergeHeap<std::size_t, decltype(before)> heap(before);  // of segments
  const auto advance = [&](std::size_t segment) -> Status {
    const Result<bool> more = readers[segment].next(heads[segment]);
    if (!more) {
      return more.error();
    }
    if (*more) {
      heap.push(segment);
    }
    return {};
  };
  for (const Segment& segment : spill_.segments()) {
    readers.emplace_back(spill_.file(), segment.frames, buffer_share());
    if (const Status advanced = advance(readers.size() - 1); !advanced) {
      return advanced.error();
    }
  }
  SpilledFrameWriter writer(dictionary_file_);
  Frame last;
  std::uint64_t merged = 0;
  const auto add = [&](const Frame& frame) -> Status {
    if (merged != 0 && last == frame) {
      return {};
    }
    if (merged == kMostFrames) {
      return Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 distinct frames"};
    }
    last = frame;
    ++merged;
    return writer.add(last);
  };
  while (!heap.empty()) {
    const std::size_t segment = heap.pop();
    Status status = add(heads[segment]);
    status = status ? indices.add(segment, static_cast<std::uint32_t>(merged - 1)) : status;
    status = status ? advance(segment) : status;
    if (!status) {
      return status;
    }
  }
  const Result<SpilledFrames> dictionary = writer.finish();
  if (!dictionary) {
    return dictionary.error();
  }
  dictionary_ = *dictionary;
  return {};
}

// The nodes of all segments as one sorted stream: the deepest first, then by frame.
class SegmentMerge::NodeStreams {
 public:
  explicit NodeStreams(AscendingLists& indices) : indices_(indices), heap_(Before{&heads_}) {}

  Status open(const SegmentSpill& spill, std::size_t buffer_bytes) {
    heads_.resize(spill.segments().size());
    for (const Segment& segment : spill.segments()) {
      readers_.emplace_back(spill, segment, buffer_bytes);
      if (const Status advanced = advance(readers_.size() - 1); !advanced) {
        return advanced;
      }
    }
    return {};
  }

  bool done() const { return heap_.empty(); }
  SegmentNode node() const { return heads_[heap_.top()]; }

  // Takes the segments whose heads are `node` off the heap; of those in which a callstack ends
  // there, `ending` is a list.
  void take_equal(const SegmentNode& node, std::vector<std::size_t>& equal,
                  std::vector<std::size_t>& ending) {
    equal.clear();
    ending.clear();
    while (!heap_.empty() && heads_[heap_.top()].depth == node.depth &&
           heads_[heap_.top()].frame == node.frame) {
      const std::size_t segment = heap_.pop();
      equal.push_back(segment);
      if (heads_[segment].ends_stack) {
        ending.push_back(segment);
      }
    }
  }

  // The next node of a segment that was taken off.
  Status advance(std::size_t segment) {
    const Result<bool> more = readers_[segment].next(heads_[segment]);
    if (!more) {
      return more.error();
    }
    if (!*more) {
      return {};
    }
    const Result<std::uint32_t> merged = indices_.at(segment, heads_[segment].frame);
    if (!merged) {
      return merged.error();
    }
    heads_[segment].frame = *merged;
    heap_.push(segment);
    return {};
  }

 private:
  struct Before {
    const std::vector<SegmentNode>* heads;
    bool operator()(std::size_t a, std::size_t b) const {
      const SegmentNode& left = (*heads)[a];
      const SegmentNode& right = (*heads)[b];
      return left.depth != right.depth ? left.depth > right.depth : left.frame < right.frame;
    }
  };

  AscendingLists& indices_;
  std::vector<SegmentNodeReader> readers_;
  std::vector<SegmentNode> heads_;
  core::MergeHeap<std::size_t, Before> heap_;  // of segments
};

Status SegmentMerge::merge_nodes(AscendingLists& indices, MergedNodes& merged_nodes) {
  NodeStreams streams(indices);
  if (const Status opened = streams.open(spill_, buffer_share()); !opened) {
    return opened.error();
  }
  std::vector<std::size_t> equal;   // segments whose heads are the current node
  std::vector<std::size_t> ending;  // those in which a callstack ends there
  while (!streams.done()) {
    const SegmentNode node = streams.node();
    streams.take_equal(node, equal, ending);
    if (const Status added = merged_nodes.add(node.frame, node.depth, ending); !added) {
      return added.error();
    }
    for (const std::size_t segment : equal) {
      if (const Status advanced = streams.advance(segment); !advanced) {
        return advanced.error();
      }
    }
  }
  return merged_nodes.finish();
}

// Brings the new ids of one segment into one piece, and translates the nodes of its builder.
Status SegmentMerge::write_maps(std::size_t segment, const MergedNodes& merged_nodes) {
  const Segment& source = spill_.segments()[segment];
  std::vector<StackId> ids(source.stack_count);
  if (const Status read = merged_nodes.read_ids(segment, ids); !read) {
    return read.error();
  }
  const Result<std::uint64_t> ids_at = id_file_.append(std::as_bytes(std::span(ids)));
  if (!ids_at) {
    return ids_at.error();
  }
  stack_ids_at_.push_back(*ids_at);
  stack_of_node_at_.push_back(id_file_.size());

  std::array<StackId, kBlockBytes / sizeof(StackId)> block{};
  for (std::uint64_t done = 0; done < source.builder_node_count; done += block.size()) {
    const auto nodes = std::span(block).first(
        std::min<std::uint64_t>(block.size(), source.builder_node_count - done));
    if (const Status read = spill_.file().read_at(
            source.stack_of_node.offset + done * sizeof(StackId), std::as_writable_bytes(nodes));
        !read) {
      return read.error();
    }
    for (StackId& id : nodes) {
      id = id == kNoStack ? kNoStack : ids[id];
    }
    if (const Result<std::uint64_t> at = id_file_.append(std::as_bytes(nodes)); !at) {
      return at.error();
    }
  }
  return {};
}

Status SegmentMerge::for_each_frame_block(
    const std::function<Status(std::span<const Frame>)>& visit) const {
  SpilledFrameReader reader(dictionary_file_, dictionary_, kBlockBytes);
  std::vector<Frame> block;
  for (std::uint64_t done = 0; done < dictionary_.count; done += block.size()) {
    block.resize(std::min<std::uint64_t>(kBlockFrames, dictionary_.count - done));
    for (Frame& frame : block) {
      if (const Result<bool> more = reader.next(frame); !more) {
        return more.error();
      }
    }
    if (const Status visited = visit(block); !visited) {
      return visited;
    }
  }
  return {};
}

Status SegmentMerge::for_each_block(
    const std::function<Status(std::span<const MergedNode>)>& visit) const {
  SpillReader reader(node_file_, {0, node_file_.size()}, kBlockBytes);
  std::vector<MergedNode> block;
  std::uint16_t last_depth = 0;
  std::int64_t last_frame = 0;
  for (std::uint64_t done = 0; done < node_count_; done += block.size()) {
    block.resize(std::min<std::uint64_t>(kBlockNodes, node_count_ - done));
    for (MergedNode& node : block) {
      const Result<bytes::ByteCursor*> cursor = reader.next(kLongestMerged);
      if (!cursor) {
        return cursor.error();
      }
      const std::uint64_t head = (*cursor)->read_varint();
      last_depth = static_cast<std::uint16_t>(last_depth + 1U - (head >> 1));
      last_frame += bytes::zigzag_decode((*cursor)->read_varint());
      node = {static_cast<std::uint32_t>(last_frame), last_depth, (head & 1) != 0};
    }
    if (const Status visited = visit(block); !visited) {
      return visited.error();
    }
  }
  return {};
}

Status SegmentMerge::stack_ids(std::size_t segment, std::uint32_t first,
                               std::span<StackId> into) const {
  return id_file_.read_at(stack_ids_at_[segment] + std::uint64_t{first} * sizeof(StackId),
                          std::as_writable_bytes(into));
}

Status SegmentMerge::stack_of_node(std::size_t segment, std::uint32_t first,
                                   std::span<StackId> into) const {
  return id_file_.read_at(stack_of_node_at_[segment] + std::uint64_t{first} * sizeof(StackId),
                          std::as_writable_bytes(into));
}

}  // namespace stackpack::dag
