#include "app/convert/frame_set.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

namespace {

// No process has an address above this for itself: what a recorder says of it there is the
// kernel's.
constexpr std::uint64_t kFirstSharedAddress = std::uint64_t{1} << 63;

}  // namespace

FrameSet::FrameSet(std::string scratch_directory, std::uint64_t memory_bytes)
    : space_(std::move(scratch_directory), memory_bytes), addresses_(space_) {}

void FrameSet::add(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    addresses_.set(count_++, frame.address);
    pages_.set(slot_of(frame.address / kPageBytes));
    for (auto mode = static_cast<std::size_t>(frame.mode) + 1; mode <= kFrameModeCount; ++mode) {
      first_of_mode_[mode] = count_;
    }
  }
}

bool FrameSet::may_have(std::uint64_t first, std::uint64_t last) const {
  const std::uint64_t begin = first / kPageBytes;
  const std::uint64_t count = last / kPageBytes - begin + 1;
  if (count > kMostPages) {
    return true;
  }
  for (std::uint64_t page = begin; page < begin + count; ++page) {
    if (pages_.test(slot_of(page))) {
      return true;
    }
  }
  return false;
}

bool FrameSet::any(FrameMode mode, std::uint64_t first, std::uint64_t last) const {
  const auto number = static_cast<std::size_t>(mode);
  std::uint64_t begin = first_of_mode_[number];
  const std::uint64_t end = first_of_mode_[number + 1];
  if (begin == end || !may_have(first, last)) {
    return false;
  }
  std::uint64_t after = end;
  while (begin < after) {  // the first one at or above `first`
    const std::uint64_t middle = begin + (after - begin) / 2;
    if (addresses_.get(middle) < first) {
      begin = middle + 1;
    } else {
      after = middle;
    }
  }
  return begin < end && addresses_.get(begin) <= last;
}

bool FunctionUse::occurs_in_image(const capture::RecordedFunction& function) const {
  const Module& image = modules_[function.module];
  return std::any_of(modules_.begin(), modules_.end(), [&](const Module& module) {
    if (module.path != image.path || module.build_id != image.build_id) {
      return false;
    }
    const std::uint64_t from = std::max(function.start, module.file_offset);
    const std::uint64_t to =
        std::min(function.start + function.size, module.file_offset + module.size);
    if (from > to) {
      return false;
    }
    const std::uint64_t first = module.base + (from - module.file_offset);
    const std::uint64_t last = module.base + (to - module.file_offset);
    return frames_.any(FrameMode::kUnknown, first, last) ||
           frames_.any(module.pid == kKernelPid ? FrameMode::kKernel : FrameMode::kUser, first,
                       last);
  });
}

bool FunctionUse::occurs(const capture::RecordedFunction& function) const {
  const std::uint64_t last = function.start + function.size;
  switch (function.owner) {
    case FunctionOwner::kImage:
      return occurs_in_image(function);
    case FunctionOwner::kKernel:
      return frames_.any(FrameMode::kKernel, function.start, last) ||
             frames_.any(FrameMode::kUnknown, function.start, last);
    case FunctionOwner::kProcess:
      if (function.start >= kFirstSharedAddress &&
          frames_.any(FrameMode::kKernel, function.start, last)) {
        return true;
      }
      break;
  }
  return frames_.any(FrameMode::kUser, function.start, last) ||
         frames_.any(FrameMode::kUnknown, function.start, last);
}

}  // namespace stackpack::app
