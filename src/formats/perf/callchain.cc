#include "formats/perf/callchain.h"

namespace stackpack::perf {

namespace {

// PERF_CONTEXT_MAX and the markers below it, linux/perf_event.h.
constexpr std::uint64_t marker(std::uint64_t distance) {
  return ~distance + 1;
}
constexpr std::uint64_t kHypervisor = marker(32);
constexpr std::uint64_t kKernel = marker(128);
constexpr std::uint64_t kUser = marker(512);
constexpr std::uint64_t kUserDeferred = marker(640);
constexpr std::uint64_t kGuest = marker(2048);
constexpr std::uint64_t kGuestKernel = marker(2176);
constexpr std::uint64_t kGuestUser = marker(2560);

std::optional<FrameMode> mode_of_marker(std::uint64_t value) {
  switch (value) {
    case kHypervisor:
      return FrameMode::kHypervisor;
    case kKernel:
      return FrameMode::kKernel;
    case kUser:
    case kUserDeferred:
      return FrameMode::kUser;
    case kGuest:
      return FrameMode::kGuest;
    case kGuestKernel:
      return FrameMode::kGuestKernel;
    case kGuestUser:
      return FrameMode::kGuestUser;
    default:
      return std::nullopt;
  }
}

}  // namespace

FrameMode mode_of_misc(std::uint16_t misc) {
  constexpr FrameMode kModes[8] = {
      FrameMode::kUnknown,     FrameMode::kKernel,    FrameMode::kUser,    FrameMode::kHypervisor,
      FrameMode::kGuestKernel, FrameMode::kGuestUser, FrameMode::kUnknown, FrameMode::kUnknown};
  return kModes[misc & 7];
}

void ChainDecoder::clear() {
  depth_ = 0;
  run_start_ = 0;
  runs_.clear();
  cookie_.reset();
  has_user_frames_ = false;
  has_user_marker_ = false;
}

void ChainDecoder::decode(io::ByteCursor entries, std::uint64_t count, FrameMode mode) {
  clear();
  append(entries, count, mode);
}

void ChainDecoder::restore(const capture::StackView& stack) {
  clear();
  addresses_.assign(stack.addresses.begin(), stack.addresses.end());
  runs_.assign(stack.runs.begin(), stack.runs.end());
  depth_ = addresses_.size();
  run_start_ = depth_;
}

void ChainDecoder::close_run(FrameMode mode) {
  const std::size_t count = depth_ - run_start_;
  if (count == 0) {
    return;
  }
  has_user_frames_ = has_user_frames_ || mode == FrameMode::kUser;
  if (!runs_.empty() && runs_.back().mode == mode) {
    runs_.back().count += static_cast<std::uint32_t>(count);
  } else {
    runs_.push_back({mode, static_cast<std::uint32_t>(count)});
  }
  run_start_ = depth_;
}

void ChainDecoder::append(io::ByteCursor entries, std::uint64_t count, FrameMode mode) {
  entries_.clear();
  entries.read_u64_array(count, entries_);
  if (addresses_.size() < depth_ + entries_.size()) {
    addresses_.resize(depth_ + entries_.size());
  }
  // Copies of the members: the compiler cannot keep those in registers across the stores.
  const std::span<const std::uint64_t> in = entries_;
  const std::span<std::uint64_t> out = addresses_;
  std::size_t depth = depth_;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint64_t value = in[i];
    if (!is_context_marker(value)) [[likely]] {
      out[depth++] = value;
      continue;
    }
    const std::optional<FrameMode> next = mode_of_marker(value);
    if (!next) {
      ++unknown_contexts_;
      continue;
    }
    depth_ = depth;
    close_run(mode);
    mode = *next;
    has_user_marker_ = has_user_marker_ || value == kUser;
    if (value == kUserDeferred) {
      ++i;  // the cookie
      if (i + 1 == in.size()) {
        cookie_ = in[i];
      }
    }
  }
  depth_ = depth;
  close_run(mode);
}

void ChainDecoder::push(std::uint64_t address) {
  if (is_context_marker(address)) {
    ++unknown_contexts_;
    return;
  }
  if (depth_ == addresses_.size()) {
    addresses_.push_back(address);
  } else {
    addresses_[depth_] = address;
  }
  ++depth_;
}

void ChainDecoder::replace_user_part(io::ByteCursor branches, std::uint64_t count) {
  while (!runs_.empty() && runs_.back().mode == FrameMode::kUser) {
    depth_ -= runs_.back().count;
    runs_.pop_back();
  }
  run_start_ = depth_;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto from = branches.read<std::uint64_t>();
    const auto to = branches.read<std::uint64_t>();
    branches.skip(8);  // flags
    if (i == 0) {
      push(to);
    }
    push(from);
  }
  close_run(FrameMode::kUser);
}

}  // namespace stackpack::perf
