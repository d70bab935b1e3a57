#include "spk/read/frame_dictionary.h"

#include <algorithm>

namespace stackpack::spk {

namespace {

struct ModeStretch {
  FrameMode mode = FrameMode::kUnknown;
  std::size_t count = 0;
  std::uint64_t first = 0;
};

std::vector<ModeStretch> stretches_of(std::span<const Frame> frames) {
  std::vector<ModeStretch> runs;
  for (const Frame& frame : frames) {
    if (runs.empty() || runs.back().mode != frame.mode) {
      runs.push_back({frame.mode, 0, frame.address});
    }
    ++runs.back().count;
  }
  return runs;
}

// Bytes for the distance of an address from the lowest of its group.
unsigned distance_bytes(std::uint64_t low, std::uint64_t high) {
  return (bit_width_of(high - low) + 7) / 8;
}

// Reads the stretches of a block; their counts add up to `count`, their modes ascend.
bool read_stretches(bytes::ByteCursor& in, std::uint32_t count, std::vector<ModeStretch>& runs) {
  const std::uint64_t run_count = read_varint(in);
  if (!in.ok() || run_count > kFrameModeCount) {
    return false;
  }
  std::uint64_t left = count;
  for (std::uint64_t i = 0; i < run_count; ++i) {
    const unsigned mode = in.read<std::uint8_t>();
    const std::uint64_t length = read_varint(in);
    const std::uint64_t first = read_varint(in);
    if (!in.ok() || mode >= kFrameModeCount || length == 0 || length > left ||
        (!runs.empty() && mode <= static_cast<unsigned>(runs.back().mode))) {
      return false;
    }
    left -= length;
    runs.push_back({static_cast<FrameMode>(mode), static_cast<std::size_t>(length), first});
  }
  return left == 0;
}

}  // namespace

void encode_frame_block(std::span<const Frame> frames, BlockContent& content) {
  const std::vector<ModeStretch> runs = stretches_of(frames);
  content.bytes().write_varint(runs.size());
  std::vector<std::uint64_t> distances;
  std::size_t at = 0;
  for (const ModeStretch& run : runs) {
    content.bytes().write(static_cast<std::uint8_t>(run.mode));
    content.bytes().write_varint(run.count);
    content.bytes().write_varint(run.first);
    for (std::size_t i = at + 1; i < at + run.count; ++i) {
      distances.push_back(frames[i].address - frames[i - 1].address);
    }
    at += run.count;
  }
  write_numbers(distances, content);
}

Status decode_frame_block(bytes::ByteCursor in, std::uint32_t count, std::vector<Frame>& frames) {
  frames.clear();
  std::vector<ModeStretch> runs;
  if (!read_stretches(in, count, runs)) {
    return in.corrupt("spk: frames: modes");
  }
  std::vector<std::uint64_t> distances;
  read_column(in, count - runs.size(), distances);
  if (!in.ok() || in.remaining() != 0) {
    return in.corrupt("spk: frames: distances");
  }
  frames.reserve(count);
  std::size_t next = 0;
  for (const ModeStretch& run : runs) {
    std::uint64_t address = run.first;
    frames.push_back({run.mode, address});
    for (std::size_t i = 1; i < run.count; ++i) {
      const std::uint64_t distance = distances[next++];
      if (distance == 0 || distance > ~address) {
        return in.corrupt("spk: frames: not ascending");
      }
      address += distance;
      frames.push_back({run.mode, address});
    }
  }
  return {};
}

void FrameDictionary::append(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    open_.push_back(frame.address);
    ++size_;
    for (auto mode = static_cast<std::size_t>(frame.mode); mode < mode_end_.size(); ++mode) {
      mode_end_[mode] = size_;
    }
    if (open_.size() == kGroupFrames) {
      close_group();
    }
  }
}

void FrameDictionary::seal() {
  if (!open_.empty()) {
    close_group();
  }
  distances_.resize(distances_.size() + sizeof(std::uint64_t));  // so that 8 bytes can be read
  distances_.shrink_to_fit();
  groups_.shrink_to_fit();
  open_ = {};
}

void FrameDictionary::close_group() {
  const auto [low, high] = std::minmax_element(open_.begin(), open_.end());
  const FrameMode first = mode_of(size_ - static_cast<std::uint32_t>(open_.size()));
  const FrameMode last = mode_of(size_ - 1);
  Group group{};
  group.base = *low;
  group.place = distances_.size() & 0xFFFFFFFFFFFF;
  group.width = distance_bytes(*low, *high) & 0xFF;
  group.mode = first == last ? static_cast<std::uint8_t>(first) : kMixed;
  groups_.push_back(group);
  for (const std::uint64_t address : open_) {
    for (unsigned byte = 0; byte < group.width; ++byte) {
      distances_.push_back(static_cast<std::byte>((address - group.base) >> (8 * byte)));
    }
  }
  open_.clear();
}

std::uint64_t FrameDictionary::memory_bytes() const {
  return sizeof *this + groups_.capacity() * sizeof(Group) + distances_.capacity();
}

std::uint64_t FrameDictionarySize::open_bytes() const {
  return open_ == 0
             ? 0
             : sizeof(FrameDictionary::Group) + std::uint64_t{open_} * distance_bytes(low_, high_);
}

void FrameDictionarySize::append(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    low_ = open_ == 0 ? frame.address : std::min(low_, frame.address);
    high_ = open_ == 0 ? frame.address : std::max(high_, frame.address);
    if (++open_ == FrameDictionary::kGroupFrames) {
      groups_bytes_ += open_bytes();
      open_ = 0;
    }
  }
}

std::uint64_t FrameDictionarySize::bytes() const {
  return sizeof(FrameDictionary) + groups_bytes_ + open_bytes() + sizeof(std::uint64_t);
}

}  // namespace stackpack::spk
