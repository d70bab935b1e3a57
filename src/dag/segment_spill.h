// Frozen segments on disk, until they are merged (segment_merge.h).
//
// When the builder reaches its memory limit its DAG is frozen, written here, and forgotten. What is
// written is a stream in canonical order, made for reading once from front to back:
//
//   frames          the dictionary, ascending: mode, address (or its distance to the one before)
//   nodes           canonical order: mode, whether a callstack ends, levels to leave before the
//                   node is attached, address as distance to the node before; 5 bytes or so each
//   stack of node   the stack id of each node of the builder, 4 bytes each
//
// It is scratch: no version, no checksum, gone with the process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dag/builder.h"
#include "io/byte_cursor.h"
#include "io/spill_file.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::dag {

/// Where a part of a segment lies in its spill file.
struct SpillRegion {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Segment {
  SpillRegion frames;
  SpillRegion nodes;
  SpillRegion stack_of_node;
  std::uint64_t frame_count = 0;
  std::uint64_t node_count = 0;          ///< of the frozen DAG
  std::uint32_t stack_count = 0;         ///< callstacks: ids 0 .. stack_count - 1
  std::uint32_t builder_node_count = 0;  ///< root included: entries of stack_of_node
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
  Result<io::ByteCursor*> next(std::size_t bytes);

 private:
  const io::SpillFile* file_;
  std::uint64_t offset_;
  std::uint64_t left_;  // bytes of the region that are not in the buffer yet
  std::vector<std::byte> buffer_;
  io::ByteCursor cursor_{{}, 0};
};

/// Reads the dictionary of a segment.
class SegmentFrameReader {
 public:
  SegmentFrameReader(const SegmentSpill& spill, const Segment& segment, std::uint64_t buffer_bytes);

  /// The next frame; false at the end. Errors: kIo.
  Result<bool> next(Frame& frame);

 private:
  SpillReader reader_;
  std::uint64_t left_;
  Frame last_;
};

/// A node as its segment tells it.
struct SegmentNode {
  Frame frame;
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
  std::uint64_t last_address_ = 0;
  std::uint16_t last_depth_ = 0;
};

}  // namespace stackpack::dag
