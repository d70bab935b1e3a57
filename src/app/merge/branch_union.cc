#include "app/merge/branch_union.h"

#include "capture/branch_recorder.h"
#include "stackpack/model.h"

namespace stackpack::app {

namespace {

// Gives an address of an input its image and offset in the merge. False: it has none there.
bool move_end(const BranchUnion::Input& input, std::uint32_t& image, std::uint64_t& offset) {
  if (image == kNoImage) {
    return false;
  }
  const InputImage& moved = input.images[image];
  if (moved.image == InputImage::kNone || offset < moved.shift) {
    image = kNoImage;
    return false;
  }
  image = input.table.row(moved.image);
  offset -= moved.shift;
  return true;
}

}  // namespace

Status BranchUnion::add(const Branches& branches, const Input& input) {
  for (BranchEdge row : branches.edges) {
    row.event = input.events[row.event];
    move_end(input, row.from_image, row.from);
    move_end(input, row.to_image, row.to);
    if (const Status added = edges_.add(row); !added) {
      return added;
    }
  }
  for (BranchRange row : branches.ranges) {
    row.event = input.events[row.event];
    std::uint32_t image = row.image;
    if (!move_end(input, image, row.end) || !move_end(input, row.image, row.begin)) {
      without_image_ += row.count;
      continue;
    }
    if (const Status added = ranges_.add(row); !added) {
      return added;
    }
  }
  return {};
}

Status BranchUnion::write(std::uint32_t first_row, capture::LossCounters& losses,
                          spk::BranchWriter& out) {
  if (without_image_ != 0) {
    losses.add(capture::branch_loss::kWithoutImage, LossKind::kNotice, without_image_);
  }
  const auto row_of = [first_row](std::uint32_t image) {
    return image == kNoImage ? image : first_row + image;
  };
  const Status edges = edges_.finish([&](const BranchEdge& sum) {
    BranchEdge row = sum;
    row.from_image = row_of(row.from_image);
    row.to_image = row_of(row.to_image);
    return out.add(row);
  });
  return !edges ? edges : ranges_.finish([&](const BranchRange& sum) {
    BranchRange row = sum;
    row.image = row_of(row.image);
    return out.add(row);
  });
}

}  // namespace stackpack::app
