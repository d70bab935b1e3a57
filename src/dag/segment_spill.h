// Frozen segments on disk, until they are merged (segment_merge.h).
//
// When the builder reaches its memory limit its DAG is frozen, written here, and forgotten. What is
// written is a stream in canonical order, made for reading once from front to back:
//
//   frames          the dictionary, ascending: mode, address (or its distance to the one before)
//   nodes           canonical order: whether a callstack ends, levels to leave before the node is
//                   attached, index in the dictionary as distance to the node before; 3 bytes or so
//   stack of node   the stack id of each node of the builder, 4 bytes each
//
// It is scratch: no version, no checksum, gone with the process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"
#include "dag/builder.h"
#include "io/spill_file.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::dag {

/// Where a part of a segment lies in its spill file.
struct SpillRegion {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Frames in ascending order, each once.
struct SpilledFrames {
  SpillRegion region;
  std::uint64_t count = 0;
};

struct Segment {
  SpilledFrames frames;
  SpillRegion nodes;
  SpillRegion stack_of_node;
  std::uint64_t node_count = 0;          ///< of the frozen DAG
  std::uint32_t stack_count = 0;         ///< callstacks: ids 0 .. stack_count - 1
  std::uint32_t builder_node_count = 0;  ///< root included: entries of stack_of_node
};

/// Collects bytes and appends them to a scratch file as one region, in which nothing else may be
/// written meanwhile.
class SpillWriter {
 public:
  explicit SpillWriter(io::SpillFile& file) : file_(file), region_{file.size(), 0} {}

  bytes::ByteWriter& bytes() { return bytes_; }

  /// To be called after every few bytes. Errors: kIo.
  Status flush_if_full() { return bytes_.size() >= kWriteBytes ? flush() : Status(); }

  /// Errors: kIo.
  Result<SpillRegion> finish();

 private:
  static constexpr std::size_t kWriteBytes = std::size_t{64} << 10;

  Status flush();

  io::SpillFile& file_;
  SpillRegion region_;
  bytes::ByteWriter bytes_;
};

/// Writes ascending frames, to be read by SpilledFrameReader.
class SpilledFrameWriter {
 public:
  explicit SpilledFrameWriter(io::SpillFile& file) : writer_(file) {}

  /// Errors: kIo.
  Status add(const Frame& frame);
  Result<SpilledFrames> finish();

 private:
  SpillWriter writer_;
  Frame last_;
  std::uint64_t count_ = 0;
};

/// Keeps segments in one scratch file. Threads: one at a time; readers may share the const object.
class SegmentSpill {
 public:
  /// Opens the scratch file in `directory` at the first segment.
  explicit SegmentSpill(std::string directory) : file_(std::move(directory)) {}

  /// Writes a segment; its number is the count of those before it.
  /// Memory: one buffer. Errors: kIo.
  Status add(const Builder::Frozen& segment);

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const io::SpillFile& file() const { return file_; }

 private:
  io::SpillFile file_;
  std::vector<Segment> segments_;
};

/// Reads a region of a spill file from front to back through a buffer. Movable, not copyable: the
/// cursor points into the buffer.
class SpillReader {
 public:
  SpillReader(const io::SpillFile& file, const SpillRegion& region, std::uint64_t buffer_bytes);
  SpillReader(SpillReader&&) = default;
  SpillReader& operator=(SpillReader&&) = default;
  SpillReader(const SpillReader&) = delete;
  SpillReader& operator=(const SpillReader&) = delete;
  ~SpillReader() = default;

  /// A cursor that stands at the next byte and has the next `bytes`, or all that are left. What is
  /// read from it is consumed. Errors: kIo.
  Result<bytes::ByteCursor*> next(std::size_t bytes);

 private:
  const io::SpillFile* file_;
  std::uint64_t offset_;
  std::uint64_t left_;  // bytes of the region that are not in the buffer yet
  std::vector<std::byte> buffer_;
  bytes::ByteCursor cursor_{{}, 0};
};

/// Reads frames that were written by SpilledFrameWriter.
class SpilledFrameReader {
 public:
  SpilledFrameReader(const io::SpillFile& file, const SpilledFrames& frames,
                     std::uint64_t buffer_bytes);

  /// The next frame; false at the end. Errors: kIo.
  Result<bool> next(Frame& frame);

 private:
  SpillReader reader_;
  std::uint64_t left_;
  Frame last_;
};

/// A node as its segment has it.
struct SegmentNode {
  std::uint32_t frame = 0;  ///< index in the segment's dictionary
  std::uint16_t depth = 0;  ///< 1 = child of the root
  bool ends_stack = false;
};

/// Reads the nodes of a segment in canonical order.
class SegmentNodeReader {
 public:
  SegmentNodeReader(const SegmentSpill& spill, const Segment& segment, std::uint64_t buffer_bytes);

  /// The next node; false at the end. Errors: kIo.
  Result<bool> next(SegmentNode& node);

 private:
  SpillReader reader_;
  std::uint64_t left_;
  std::uint32_t last_frame_ = 0;
  std::uint16_t last_depth_ = 0;
};

}  // namespace stackpack::dag
