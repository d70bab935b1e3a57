#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spk/format/block_index.h"
#include "spk/format/dag_sections.h"
#include "spk/format/frame_blocks.h"
#include "spk/write/block_compressor.h"
#include "spk/write/dag_node.h"
#include "spk/write/edge_counter.h"
#include "spk/write/edge_ranks.h"
#include "spk/write/page_encoder.h"
#include "spk/write/section_writer.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::spk {

/// Checks that nodes come in canonical order, and sums them up so that two passes can be compared.
class NodeOrder {
 public:
  explicit NodeOrder(std::uint32_t frame_count) : frame_count_(frame_count) {}

  /// False: not in canonical order, or an unknown frame.
  bool add(const DagNode& node);

  /// The frame above the latest node; frame_count (the root's edge row) when there is none.
  [[nodiscard]] std::uint32_t parent_row() const;
  /// The latest node is the first child of its parent.
  [[nodiscard]] bool is_first_child() const { return first_child_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t stacks() const { return stacks_; }

  friend bool operator==(const NodeOrder& a, const NodeOrder& b) {
    return a.count_ == b.count_ && a.digest_ == b.digest_;
  }

 private:
  std::uint32_t frame_count_;
  std::vector<std::uint32_t> path_;
  bool first_child_ = false;
  std::uint64_t count_ = 0;
  std::uint64_t stacks_ = 0;
  std::uint64_t digest_ = 0;
};

/// Writes the sections of a DAG: frames, unless they are mere numbers, edges, pages and page index.
/// See Writer for the order of calls.
class DagWriter {
 public:
  /// `table_bytes`: most bytes for the table of edges, which beyond them goes to scratch files in
  /// `scratch_directory`; 0: no limit. `threaded`: blocks are compressed on a thread of their own.
  DagWriter(SectionWriter& out, const DagSections& sections, std::string scratch_directory,
            std::uint64_t table_bytes, bool threaded);

  Status begin();
  Status add_frames(std::span<const Frame> frames);
  Status survey(std::span<const DagNode> nodes);
  Status begin_pages();
  Status add(std::span<const DagNode> nodes);
  Status end();

  [[nodiscard]] bool done() const { return stage_ == Stage::kDone; }
  /// Once done: callstacks in the file.
  [[nodiscard]] std::uint64_t stack_count() const { return survey_->stacks(); }
  /// Once done: fills in statistics.dag but for stored_bytes.
  void fill(Statistics& statistics) const;

 private:
  enum class Stage : std::uint8_t { kNone, kFrames, kSurvey, kPages, kDone };

  Status write_frames();
  Status end_frames();
  Status write_edges();
  Status make_page();
  Status submit_block();
  Status write_block(std::span<const std::byte> frame, std::uint32_t raw_bytes);
  Status write_index();

  SectionWriter& out_;
  DagSections sections_;
  std::string scratch_directory_;
  std::uint64_t edge_bytes_;  // most for collecting edges, and for looking them up; 0: no limit
  bool threaded_;
  Stage stage_ = Stage::kNone;
  std::vector<Frame> frames_;  // of the block under construction
  Frame last_frame_;
  std::uint32_t frame_count_ = 0;
  std::optional<NodeOrder> survey_;
  std::optional<NodeOrder> written_;
  std::optional<EdgeCounter> counter_;
  std::optional<EdgeRanks> edges_;
  std::optional<PageEncoder> encoder_;
  std::optional<BlockCompressor> compressor_;  // of frames, edges and pages
  std::vector<PageEntry> pages_;
  std::size_t written_pages_ = 0;
  BlockContent content_;
};

}  // namespace stackpack::spk
