#include "spk/format/frame_blocks.h"

#include <cstddef>

#include "spk/format/layout.h"

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

}  // namespace stackpack::spk
