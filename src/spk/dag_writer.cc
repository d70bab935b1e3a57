#include "spk/dag_writer.h"

#include <algorithm>

#include "spk/frame_dictionary.h"
#include "spk/resident_page.h"

namespace stackpack::spk {

namespace {

// Nodes between fetching what belongs to one and using it.
constexpr std::size_t kNodesAhead = 32;

constexpr std::size_t kMaxEdges = std::size_t{1} << 30;

Error out_of_order() {
  return {ErrorCode::kUsage, kNoOffset, "spk: writer: calls out of order"};
}

Error too_many_frames() {
  return {ErrorCode::kLimit, kNoOffset, "too many distinct addresses for this memory limit"};
}

Error not_canonical() {
  return {ErrorCode::kUsage, kNoOffset, "spk: writer: nodes are not in canonical order"};
}

}  // namespace

bool NodeOrder::add(const DagNode& node) {
  if (node.depth == 0 || node.depth > path_.size() + 1 || node.frame >= frame_count_) {
    return false;
  }
  // A sibling before this node has the lower frame.
  if (node.depth <= path_.size() && path_[node.depth - 1U] >= node.frame) {
    return false;
  }
  first_child_ = node.depth == path_.size() + 1;
  path_.resize(node.depth);
  path_.back() = node.frame;
  ++count_;
  stacks_ += node.ends_stack ? 1 : 0;
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  const std::uint64_t word = std::uint64_t{node.frame} << 17 | std::uint64_t{node.depth} << 1 |
                             (node.ends_stack ? 1U : 0U);
  digest_ = (digest_ ^ word) * kMultiplier;
  digest_ ^= digest_ >> 29;
  return true;
}

std::uint32_t NodeOrder::parent_row() const {
  return path_.size() < 2 ? frame_count_ : path_[path_.size() - 2];
}

Status DagWriter::begin(std::span<const Frame> dictionary) {
  if (stage_ != Stage::kNone) {
    return out_of_order();
  }
  if (dictionary.size() > kMaxFrames) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: too many distinct frames"};
  }
  if (std::adjacent_find(dictionary.begin(), dictionary.end(), std::greater_equal<>()) !=
      dictionary.end()) {
    return not_canonical();
  }
  stage_ = Stage::kSurvey;
  frame_count_ = static_cast<std::uint32_t>(dictionary.size());
  survey_.emplace(frame_count_);
  written_.emplace(frame_count_);
  return write_frames(dictionary);
}

Status DagWriter::write_frames(std::span<const Frame> dictionary) {
  FrameDictionary resident;
  out_.begin_section(SectionKind::kFrames);
  for (std::size_t begin = 0; begin < dictionary.size(); begin += kFramesPerBlock) {
    const auto block = dictionary.subspan(
        begin, std::min<std::size_t>(kFramesPerBlock, dictionary.size() - begin));
    content_.clear();
    encode_frame_block(block, content_);
    if (const auto record = out_.add_block(content_); !record) {
      return record.error();
    }
    resident.append(block);
  }
  resident.seal();
  resident_bytes_ += resident.memory_bytes();
  out_.end_section(dictionary.size());
  return {};
}

Status DagWriter::survey(std::span<const DagNode> nodes) {
  if (stage_ != Stage::kSurvey) {
    return out_of_order();
  }
  for (const DagNode& node : nodes) {
    if (!survey_->add(node)) {
      return not_canonical();
    }
    counter_.add(survey_->parent_row(), node.frame, survey_->is_first_child());
  }
  if (!tables_fit()) {
    return too_many_frames();
  }
  if (counter_.size() > kMaxEdges || survey_->stacks() >= kNoStack) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: too many callstacks"};
  }
  return {};
}

Status DagWriter::begin_pages() {
  if (stage_ != Stage::kSurvey) {
    return out_of_order();
  }
  stage_ = Stage::kPages;
  if (const Status written = write_edges(); !written) {
    return written;
  }
  resident_bytes_ += edges_.memory_bytes();
  encoder_.emplace(edges_);
  compressor_.emplace(out_.level(), threaded_,
                      [this](std::span<const std::byte> frame, std::uint32_t raw_bytes) {
                        return write_page(frame, raw_bytes);
                      });
  out_.begin_section(SectionKind::kPages);
  return {};
}

// What frames and edges take at the worst moments: the dictionary of the caller and its index, the
// resident one; the slots of the counter while they grow, or the table that is made of them.
bool DagWriter::tables_fit() const {
  constexpr std::uint64_t kFrameBytes = 40;
  constexpr std::uint64_t kEdgeBytes = 64;
  return table_bytes_ == 0 ||
         frame_count_ * kFrameBytes + counter_.size() * kEdgeBytes <= table_bytes_;
}

// The writer makes its own table of the blocks that it writes: what a reader will see.
Status DagWriter::write_edges() {
  const std::vector<CountedEdge> edges = counter_.take();
  out_.begin_section(SectionKind::kEdges);
  EdgeBlockEncoder encoder(edges, frame_count_ + 1);
  EdgeTableBuilder builder(frame_count_);
  while (!encoder.done()) {
    content_.clear();
    encoder.encode(content_);
    if (const Status added = builder.add_block(io::ByteCursor(content_.bytes().bytes(), 0));
        !added) {
      return added;
    }
    if (const auto record = out_.add_block(content_); !record) {
      return record.error();
    }
  }
  out_.end_section(edges.size());
  Result<EdgeTable> table = builder.finish();
  if (!table) {
    return table.error();
  }
  edges_ = std::move(table).value();
  return {};
}

Status DagWriter::add(std::span<const DagNode> nodes) {
  if (stage_ != Stage::kPages) {
    return out_of_order();
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const DagNode& node = nodes[i];
    if (!written_->add(node) || written_->count() > survey_->count()) {
      return not_canonical();
    }
    if (i + kNodesAhead < nodes.size() && nodes[i + kNodesAhead].frame < frame_count_) {
      encoder_->prefetch(nodes[i + kNodesAhead]);
    }
    encoder_->add(node);
    if (encoder_->full()) {
      if (const Status made = make_page(); !made) {
        return made;
      }
      if (const Status submitted = compressor_->submit(); !submitted) {
        return submitted;
      }
    }
  }
  return {};
}

// Makes the next page; its record comes when it is written.
Status DagWriter::make_page() {
  BlockContent& content = compressor_->filling();
  const PageEncoder::Page page = encoder_->encode(content);
  if (content.size() > kMaxPageBytes) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: page is too large"};
  }
  pages_.push_back({{}, page.stacks});
  resident_bytes_ += ResidentPage::bytes_of(page.shape);
  return {};
}

Status DagWriter::write_page(std::span<const std::byte> frame, std::uint32_t raw_bytes) {
  const auto record = out_.add_frame(frame, raw_bytes);
  if (!record) {
    return record.error();
  }
  pages_[written_pages_++].block = record.value();
  return {};
}

Status DagWriter::end() {
  if (stage_ != Stage::kPages) {
    return out_of_order();
  }
  if (!(*survey_ == *written_)) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: the nodes were not the same twice"};
  }
  if (!encoder_->empty()) {
    if (const Status made = make_page(); !made) {
      return made;
    }
  }
  if (const Status flushed = compressor_->flush(); !flushed) {
    return flushed;
  }
  compressor_.reset();
  stage_ = Stage::kDone;
  out_.end_section(survey_->count());
  encoder_.reset();
  edges_ = EdgeTable();
  counter_ = {};
  return write_index();
}

Status DagWriter::write_index() {
  out_.begin_section(SectionKind::kPageIndex);
  const std::span<const PageEntry> pages(pages_);
  for (std::size_t begin = 0; begin < pages.size(); begin += kPagesPerIndexBlock) {
    content_.clear();
    encode_page_index(
        pages.subspan(begin, std::min<std::size_t>(kPagesPerIndexBlock, pages.size() - begin)),
        content_);
    if (const auto record = out_.add_block(content_); !record) {
      return record.error();
    }
  }
  out_.end_section(pages.size());
  return {};
}

void DagWriter::fill(Statistics& statistics) const {
  statistics.dag.nodes = survey_->count();
  statistics.dag.distinct_frames = frame_count_;
  statistics.dag.pages = pages_.size();
  statistics.dag.resident_bytes = resident_bytes_;
  statistics.callstacks.stored = survey_->stacks();
}

}  // namespace stackpack::spk
