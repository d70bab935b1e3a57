#include "spk/write/dag_writer.h"

#include <utility>

namespace stackpack::spk {

namespace {

// Nodes between fetching what belongs to one and using it.
constexpr std::size_t kNodesAhead = 32;

Error out_of_order() {
  return {ErrorCode::kUsage, kNoOffset, "spk: writer: calls out of order"};
}

Error too_many_stacks() {
  return {ErrorCode::kLimit, kNoOffset, "spk: too many callstacks"};
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

DagWriter::DagWriter(SectionWriter& out, const DagSections& sections, std::string scratch_directory,
                     std::uint64_t table_bytes, bool threaded)
    : out_(out),
      sections_(sections),
      scratch_directory_(std::move(scratch_directory)),
      edge_bytes_(table_bytes / 2),
      threaded_(threaded) {}

Status DagWriter::begin() {
  if (stage_ != Stage::kNone) {
    return out_of_order();
  }
  stage_ = Stage::kFrames;
  compressor_.emplace(out_.level(), threaded_,
                      [this](std::span<const std::byte> frame, std::uint32_t raw_bytes) {
                        return write_block(frame, raw_bytes);
                      });
  if (sections_.frames) {
    out_.begin_section(*sections_.frames);
  }
  return {};
}

Status DagWriter::add_frames(std::span<const Frame> frames) {
  if (stage_ != Stage::kFrames) {
    return out_of_order();
  }
  if (frames.size() > kMaxFrames - frame_count_) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: too many distinct frames"};
  }
  for (const Frame& frame : frames) {
    if (frame_count_ > 0 && !(last_frame_ < frame)) {
      return not_canonical();
    }
    last_frame_ = frame;
    ++frame_count_;
    if (!sections_.frames) {
      continue;
    }
    frames_.push_back(frame);
    if (frames_.size() == kFramesPerBlock) {
      if (const Status written = write_frames(); !written) {
        return written;
      }
    }
  }
  return {};
}

Status DagWriter::write_frames() {
  encode_frame_block(frames_, compressor_->filling());
  frames_.clear();
  return submit_block();
}

// Passes a block of a table on.
Status DagWriter::submit_block() {
  if (compressor_->filling().size() > kMaxBlockBytes) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: a row is too long for a block"};
  }
  return compressor_->submit();
}

// Writes what was compressed, in the order in which it was passed on.
Status DagWriter::write_block(std::span<const std::byte> frame, std::uint32_t raw_bytes) {
  const auto record = out_.add_frame(frame, raw_bytes);
  if (!record) {
    return record.error();
  }
  if (stage_ == Stage::kPages) {
    pages_[written_pages_++].block = record.value();
  }
  return {};
}

Status DagWriter::end_frames() {
  if (!frames_.empty()) {
    if (const Status written = write_frames(); !written) {
      return written;
    }
  }
  frames_ = {};  // the last blocks are compressed during the survey
  stage_ = Stage::kSurvey;
  survey_.emplace(frame_count_);
  written_.emplace(frame_count_);
  counter_.emplace(scratch_directory_, edge_bytes_);
  return {};
}

Status DagWriter::survey(std::span<const DagNode> nodes) {
  if (stage_ == Stage::kFrames) {
    if (const Status ended = end_frames(); !ended) {
      return ended;
    }
  }
  if (stage_ != Stage::kSurvey) {
    return out_of_order();
  }
  for (const DagNode& node : nodes) {
    if (!survey_->add(node)) {
      return not_canonical();
    }
    if (const Status counted =
            counter_->add(survey_->parent_row(), node.frame, survey_->is_first_child());
        !counted) {
      return counted;
    }
  }
  return survey_->stacks() < kNoStack ? Status() : Status(too_many_stacks());
}

Status DagWriter::begin_pages() {
  if (stage_ == Stage::kFrames) {  // not a node
    if (const Status ended = end_frames(); !ended) {
      return ended;
    }
  }
  if (stage_ != Stage::kSurvey) {
    return out_of_order();
  }
  if (const Status flushed = compressor_->flush(); !flushed) {
    return flushed;
  }
  if (sections_.frames) {
    out_.end_section(frame_count_);
  }
  if (const Status written = write_edges(); !written) {
    return written;
  }
  stage_ = Stage::kPages;
  encoder_.emplace(*edges_);
  out_.begin_section(sections_.pages);
  return {};
}

// The writer makes its own table of the blocks that it writes: what a reader will see.
Status DagWriter::write_edges() {
  edges_.emplace(frame_count_,
                 EdgeRanks::Options{scratch_directory_, counter_->most_edges(), edge_bytes_});
  out_.begin_section(sections_.edges);
  EdgeBlockEncoder encoder(frame_count_ + 1, [this](BlockContent& block) -> Status {
    if (const Status added = edges_->add_block(bytes::ByteCursor(block.bytes().bytes(), 0));
        !added) {
      return added;
    }
    std::swap(compressor_->filling(), block);
    return submit_block();
  });
  std::uint64_t count = 0;
  const Status added = counter_->for_each([&](const CountedEdge& edge) -> Status {
    return ++count > kMaxEdges ? Status(too_many_stacks()) : encoder.add(edge);
  });
  if (!added) {
    return added;
  }
  counter_.reset();
  if (const Status ended = encoder.finish(); !ended) {
    return ended;
  }
  const Status finished = edges_->finish();
  const Status flushed = compressor_->flush();
  out_.end_section(count);
  return finished ? flushed : finished;
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
    if (const Status added = encoder_->add(node); !added) {
      return added;
    }
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
  const std::uint32_t stacks = encoder_->encode(content);
  if (content.size() > kMaxPageBytes) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: page is too large"};
  }
  pages_.push_back({{}, stacks});
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
  edges_.reset();
  return write_index();
}

Status DagWriter::write_index() {
  out_.begin_section(sections_.page_index);
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
  statistics.callstacks.stored = survey_->stacks();
}

}  // namespace stackpack::spk
