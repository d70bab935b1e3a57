#include "scratch/spill_pages.h"

#include <algorithm>
#include <new>
#include <span>

namespace stackpack::scratch {

SpillPages::SpillPages(io::SpillFile& file, std::uint64_t budget_bytes)
    : file_(file),
      most_frames_(std::max(kLeastPages, budget_bytes / kPageBytes)),
      on_disk_(static_cast<std::size_t>((file.size() + kPageBytes - 1) / kPageBytes), true) {}

// A frame for another page: a new one while there may be more, else the one whose page was not used
// for the longest time, more or less.
Result<std::uint32_t> SpillPages::free_frame() {
  if (frames_.size() < most_frames_) {
    if (!bytes_.reserve((frames_.size() + 1) * kPageBytes)) {
      throw std::bad_alloc();
    }
    frames_.emplace_back();
    return static_cast<std::uint32_t>(frames_.size() - 1);
  }
  while (frames_[hand_].used) {
    frames_[hand_].used = false;
    hand_ = (hand_ + 1) % frames_.size();
  }
  const std::size_t found = hand_;
  hand_ = (hand_ + 1) % frames_.size();
  Frame& frame = frames_[found];
  if (frame.changed) {
    if (const Status written = file_.write_at(frame.page * kPageBytes, bytes_of(found)); !written) {
      return written.error();
    }
    frame.changed = false;
    if (frame.page >= on_disk_.size()) {
      on_disk_.resize(static_cast<std::size_t>(frame.page) + 1);
    }
    on_disk_[static_cast<std::size_t>(frame.page)] = true;
  }
  frame_of_[frame.page] = 0;
  return static_cast<std::uint32_t>(found);
}

Status SpillPages::load(std::uint64_t page) {
  const Result<std::uint32_t> frame = free_frame();
  if (!frame) {
    return frame.error();
  }
  if (page >= frame_of_.size()) {
    frame_of_.resize(static_cast<std::size_t>(page) + 1);
  }
  const std::span<std::byte> bytes = bytes_of(*frame);
  const std::uint64_t offset = page * kPageBytes;
  // A page that was never written is not looked for, though there may be others after it.
  const std::uint64_t present = page >= on_disk_.size() || !on_disk_[static_cast<std::size_t>(page)]
                                    ? 0
                                    : std::min(kPageBytes, file_.size() - offset);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(present), bytes.end(), std::byte{0});
  if (present != 0) {
    ++reads_;
    if (const Status read = file_.read_at(offset, bytes.first(static_cast<std::size_t>(present)));
        !read) {
      return read;
    }
  }
  frames_[*frame] = {page, true, false};
  frame_of_[page] = *frame + 1;
  return {};
}

}  // namespace stackpack::scratch
