#include "formats/perf/callchain.h"

#include <algorithm>

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

// The first entry from `at` on that lies in the range of the context markers; `end` when none does.
const std::uint64_t* find_marker(const std::uint64_t* at, const std::uint64_t* end) {
  constexpr std::ptrdiff_t kBlock = 4;
  // Of an entry whose upper 52 bits are all set, and of no other, this has its highest bit set.
  const auto suspicion = [](std::uint64_t entry) { return (~entry >> 12) - 1; };
  for (; end - at >= kBlock; at += kBlock) {
    const std::uint64_t any =
        suspicion(at[0]) | suspicion(at[1]) | suspicion(at[2]) | suspicion(at[3]);
    if ((any >> 63) != 0) {
      break;
    }
  }
  return std::find_if(at, end, is_context_marker);
}

}  // namespace

FrameMode mode_of_misc(std::uint16_t misc) {
  constexpr FrameMode kModes[8] = {
      FrameMode::kUnknown,     FrameMode::kKernel,    FrameMode::kUser,    FrameMode::kHypervisor,
      FrameMode::kGuestKernel, FrameMode::kGuestUser, FrameMode::kUnknown, FrameMode::kUnknown};
  return kModes[misc & 7];
}

std::optional<std::uint64_t> first_address(bytes::ByteCursor entries, std::uint64_t count) {
  constexpr std::uint64_t kMostMarkers = 8;
  for (std::uint64_t i = 0; i < std::min(count, kMostMarkers); ++i) {
    const auto entry = entries.read<std::uint64_t>();
    if (!is_context_marker(entry)) {
      return entry;
    }
    if (entry == kUserDeferred) {
      break;  // a cookie follows
    }
  }
  return std::nullopt;
}

void ChainDecoder::clear() {
  depth_ = 0;
  run_start_ = 0;
  runs_.clear();
  cookie_.reset();
  has_user_frames_ = false;
  has_user_marker_ = false;
}

void ChainDecoder::decode(bytes::ByteCursor entries, std::uint64_t count, FrameMode mode) {
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

void ChainDecoder::append(bytes::ByteCursor entries, std::uint64_t count, FrameMode mode) {
  entries_.clear();
  entries.read_u64_array(count, entries_);
  if (addresses_.size() < depth_ + entries_.size()) {
    addresses_.resize(depth_ + entries_.size());
  }
  const std::uint64_t* at = entries_.data();
  const std::uint64_t* const end = at + entries_.size();
  while (true) {
    const std::uint64_t* const found = find_marker(at, end);
    std::copy(at, found, addresses_.data() + depth_);
    depth_ += static_cast<std::size_t>(found - at);
    if (found == end) {
      break;
    }
    at = found + 1;
    const std::optional<FrameMode> next = mode_of_marker(*found);
    if (!next) {
      ++unknown_contexts_;
      continue;
    }
    close_run(mode);
    mode = *next;
    has_user_marker_ = has_user_marker_ || *found == kUser;
    if (*found == kUserDeferred && at != end) {
      if (at + 1 == end) {
        cookie_ = *at;
      }
      ++at;  // the cookie
    }
  }
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

void ChainDecoder::append_user(std::span<const std::uint64_t> addresses) {
  for (const std::uint64_t address : addresses) {
    push(address);
  }
  close_run(FrameMode::kUser);
}

void ChainDecoder::put_in_front(const Frame& leaf, std::uint32_t replaced) {
  addresses_.erase(addresses_.begin(), addresses_.begin() + replaced);
  if (replaced != 0 && (runs_.front().count -= replaced) == 0) {
    runs_.erase(runs_.begin());
  }
  addresses_.insert(addresses_.begin(), leaf.address);
  depth_ = depth_ - replaced + 1;
  run_start_ = depth_;
  if (!runs_.empty() && runs_.front().mode == leaf.mode) {
    ++runs_.front().count;
  } else {
    runs_.insert(runs_.begin(), {leaf.mode, 1});
  }
}

void ChainDecoder::replace_user_part(bytes::ByteCursor branches, std::uint64_t count,
                                     std::optional<std::uint64_t> user_ip) {
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
      push(user_ip.value_or(to));
    }
    push(from);
  }
  close_run(FrameMode::kUser);
}

}  // namespace stackpack::perf
