#include "dag/segment_spill.h"

#include <algorithm>
#include <utility>

namespace stackpack::dag {
namespace {

// A node begins with one byte.
constexpr unsigned kEndsBit = 1;
constexpr unsigned kPopsShift = 1;
constexpr std::uint64_t kManyPops = 127;  // and more: the rest follows as a number

// A frame: one byte, a number of at most 10. A node: one byte, numbers of at most 3 and 5.
constexpr std::size_t kLongest = 11;

Result<SpilledFrames> write_frames(io::SpillFile& file, const std::vector<Frame>& dictionary) {
  SpilledFrameWriter writer(file);
  for (const Frame& frame : dictionary) {
    if (const Status added = writer.add(frame); !added) {
      return added.error();
    }
  }
  return writer.finish();
}

Result<SpillRegion> write_nodes(io::SpillFile& file, const FrozenDag& dag) {
  SpillWriter writer(file);
  std::int64_t last_frame = 0;
  std::uint64_t last_depth = 0;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    const std::uint64_t pops = last_depth + 1 - dag.depth[i];
    const auto head = (dag.ends(i) ? kEndsBit : 0) |
                      static_cast<unsigned>(std::min(pops, kManyPops)) << kPopsShift;
    writer.bytes().write(static_cast<std::uint8_t>(head));
    if (pops >= kManyPops) {
      writer.bytes().write_varint(pops - kManyPops);
    }
    const std::int64_t frame = dag.frame[i];
    writer.bytes().write_varint(bytes::zigzag_encode(frame - last_frame));
    last_frame = frame;
    last_depth = dag.depth[i];
    if (const Status flushed = writer.flush_if_full(); !flushed) {
      return flushed.error();
    }
  }
  return writer.finish();
}

}  // namespace

Status SpillWriter::flush() {
  const Result<std::uint64_t> at = file_.append(bytes_.bytes());
  if (!at) {
    return at.error();
  }
  region_.bytes += bytes_.size();
  bytes_.clear();
  return {};
}

Result<SpillRegion> SpillWriter::finish() {
  if (const Status flushed = flush(); !flushed) {
    return flushed.error();
  }
  return region_;
}

Status SpilledFrameWriter::add(const Frame& frame) {
  const std::uint64_t base = frame.mode == last_.mode ? last_.address : 0;
  writer_.bytes().write(static_cast<std::uint8_t>(frame.mode));
  writer_.bytes().write_varint(frame.address - base);
  last_ = frame;
  ++count_;
  return writer_.flush_if_full();
}

Result<SpilledFrames> SpilledFrameWriter::finish() {
  const Result<SpillRegion> region = writer_.finish();
  if (!region) {
    return region.error();
  }
  return SpilledFrames{*region, count_};
}

Status SegmentSpill::add(const Builder::Frozen& segment) {
  Segment entry;
  const Result<SpilledFrames> frames = write_frames(file_, segment.dag.dictionary);
  if (!frames) {
    return frames.error();
  }
  const Result<SpillRegion> nodes = write_nodes(file_, segment.dag);
  if (!nodes) {
    return nodes.error();
  }
  const auto stack_of_node = std::as_bytes(std::span(segment.stack_of_node));
  const Result<std::uint64_t> at = file_.append(stack_of_node);
  if (!at) {
    return at.error();
  }
  entry.frames = *frames;
  entry.nodes = *nodes;
  entry.stack_of_node = {*at, stack_of_node.size()};
  entry.node_count = segment.dag.node_count();
  entry.stack_count = segment.dag.stack_count;
  entry.builder_node_count = static_cast<std::uint32_t>(segment.stack_of_node.size());
  segments_.push_back(entry);
  return {};
}

SpillReader::SpillReader(const io::SpillFile& file, const SpillRegion& region,
                         std::uint64_t buffer_bytes)
    : file_(&file),
      offset_(region.offset),
      left_(region.bytes),
      buffer_(static_cast<std::size_t>(
          std::min(region.bytes, std::max<std::uint64_t>(buffer_bytes, kLongest)))) {}

Result<bytes::ByteCursor*> SpillReader::next(std::size_t bytes) {
  if (cursor_.remaining() < bytes && left_ > 0) {
    const std::span<const std::byte> rest = cursor_.rest();
    std::copy(rest.begin(), rest.end(), buffer_.begin());
    const std::size_t kept = rest.size();
    const auto more =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size() - kept, left_));
    if (const Status read = file_->read_at(offset_, std::span(buffer_).subspan(kept, more));
        !read) {
      return read.error();
    }
    offset_ += more;
    left_ -= more;
    cursor_ = bytes::ByteCursor(std::span<const std::byte>(buffer_).first(kept + more),
                                offset_ - kept - more);
  }
  return &cursor_;
}

SpilledFrameReader::SpilledFrameReader(const io::SpillFile& file, const SpilledFrames& frames,
                                       std::uint64_t buffer_bytes)
    : reader_(file, frames.region, buffer_bytes), left_(frames.count) {}

Result<bool> SpilledFrameReader::next(Frame& frame) {
  if (left_ == 0) {
    return false;
  }
  const Result<bytes::ByteCursor*> cursor = reader_.next(kLongest);
  if (!cursor) {
    return cursor.error();
  }
  frame.mode = static_cast<FrameMode>((*cursor)->read<std::uint8_t>());
  const std::uint64_t base = frame.mode == last_.mode ? last_.address : 0;
  frame.address = base + (*cursor)->read_varint();
  last_ = frame;
  --left_;
  return true;
}

SegmentNodeReader::SegmentNodeReader(const SegmentSpill& spill, const Segment& segment,
                                     std::uint64_t buffer_bytes)
    : reader_(spill.file(), segment.nodes, buffer_bytes), left_(segment.node_count) {}

Result<bool> SegmentNodeReader::next(SegmentNode& node) {
  if (left_ == 0) {
    return false;
  }
  const Result<bytes::ByteCursor*> cursor = reader_.next(kLongest);
  if (!cursor) {
    return cursor.error();
  }
  bytes::ByteCursor& in = **cursor;
  const auto head = in.read<std::uint8_t>();
  std::uint64_t pops = head >> kPopsShift;
  if (pops == kManyPops) {
    pops += in.read_varint();
  }
  last_frame_ = static_cast<std::uint32_t>(last_frame_ + bytes::zigzag_decode(in.read_varint()));
  last_depth_ = static_cast<std::uint16_t>(last_depth_ + 1 - pops);
  node.frame = last_frame_;
  node.depth = last_depth_;
  node.ends_stack = (head & kEndsBit) != 0;
  --left_;
  return true;
}

}  // namespace stackpack::dag
