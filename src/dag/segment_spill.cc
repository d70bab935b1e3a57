#include "dag/segment_spill.h"

#include <algorithm>
#include <utility>

#include "io/byte_writer.h"

namespace stackpack::dag {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{64} << 10;

// A node begins with one byte.
constexpr unsigned kModeMask = 7;
constexpr unsigned kEndsBit = 8;
constexpr unsigned kPopsShift = 4;
constexpr std::uint64_t kManyPops = 15;  // and more: the rest follows as a number

// One byte, two numbers of at most 3 and 10 bytes.
constexpr std::size_t kLongestNode = 14;

// Collects bytes and appends them to the file as one region.
class RegionWriter {
 public:
  explicit RegionWriter(io::SpillFile& file) : file_(file), region_{file.size(), 0} {}

  io::ByteWriter& bytes() { return bytes_; }

  // To be called after every few bytes.
  Status flush_if_full() { return bytes_.size() >= kWriteBytes ? flush() : Status(); }

  Result<SpillRegion> finish() {
    if (const Status flushed = flush(); !flushed) {
      return flushed.error();
    }
    return region_;
  }

 private:
  Status flush() {
    const Result<std::uint64_t> at = file_.append(bytes_.bytes());
    if (!at) {
      return at.error();
    }
    region_.bytes += bytes_.size();
    bytes_.clear();
    return {};
  }

  io::SpillFile& file_;
  SpillRegion region_;
  io::ByteWriter bytes_;
};

Result<SpillRegion> write_frames(io::SpillFile& file, const std::vector<Frame>& dictionary) {
  RegionWriter writer(file);
  Frame last;
  for (const Frame& frame : dictionary) {
    const std::uint64_t base = frame.mode == last.mode ? last.address : 0;
    writer.bytes().write(static_cast<std::uint8_t>(frame.mode));
    writer.bytes().write_varint(frame.address - base);
    last = frame;
    if (const Status flushed = writer.flush_if_full(); !flushed) {
      return flushed.error();
    }
  }
  return writer.finish();
}

Result<SpillRegion> write_nodes(io::SpillFile& file, const FrozenDag& dag) {
  RegionWriter writer(file);
  std::uint64_t last_address = 0;
  std::uint64_t last_depth = 0;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    const Frame& frame = dag.dictionary[dag.frame[i]];
    const std::uint64_t pops = last_depth + 1 - dag.depth[i];
    const auto head = static_cast<unsigned>(frame.mode) | (dag.ends(i) ? kEndsBit : 0) |
                      static_cast<unsigned>(std::min(pops, kManyPops)) << kPopsShift;
    writer.bytes().write(static_cast<std::uint8_t>(head));
    if (pops >= kManyPops) {
      writer.bytes().write_varint(pops - kManyPops);
    }
    const auto distance = static_cast<std::int64_t>(frame.address - last_address);
    writer.bytes().write_varint(io::zigzag_encode(distance));
    last_address = frame.address;
    last_depth = dag.depth[i];
    if (const Status flushed = writer.flush_if_full(); !flushed) {
      return flushed.error();
    }
  }
  return writer.finish();
}

}  // namespace

Status SegmentSpill::add(const Builder::Frozen& segment) {
  Segment entry;
  const Result<SpillRegion> frames = write_frames(file_, segment.dag.dictionary);
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
  entry.frame_count = segment.dag.dictionary.size();
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
          std::min(region.bytes, std::max<std::uint64_t>(buffer_bytes, kLongestNode)))) {}

Result<io::ByteCursor*> SpillReader::next(std::size_t bytes) {
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
    cursor_ = io::ByteCursor(std::span<const std::byte>(buffer_).first(kept + more),
                             offset_ - kept - more);
  }
  return &cursor_;
}

SegmentFrameReader::SegmentFrameReader(const SegmentSpill& spill, const Segment& segment,
                                       std::uint64_t buffer_bytes)
    : reader_(spill.file(), segment.frames, buffer_bytes), left_(segment.frame_count) {}

Result<bool> SegmentFrameReader::next(Frame& frame) {
  if (left_ == 0) {
    return false;
  }
  const Result<io::ByteCursor*> cursor = reader_.next(kLongestNode);
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
  const Result<io::ByteCursor*> cursor = reader_.next(kLongestNode);
  if (!cursor) {
    return cursor.error();
  }
  io::ByteCursor& in = **cursor;
  const auto head = in.read<std::uint8_t>();
  std::uint64_t pops = head >> kPopsShift;
  if (pops == kManyPops) {
    pops += in.read_varint();
  }
  last_address_ += static_cast<std::uint64_t>(io::zigzag_decode(in.read_varint()));
  last_depth_ = static_cast<std::uint16_t>(last_depth_ + 1 - pops);
  node.frame = {static_cast<FrameMode>(head & kModeMask), last_address_};
  node.depth = last_depth_;
  node.ends_stack = (head & kEndsBit) != 0;
  --left_;
  return true;
}

}  // namespace stackpack::dag
