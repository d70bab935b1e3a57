#include "formats/etl/waiting_halves.h"

#include <algorithm>

#include "io/byte_cursor.h"
#include "io/byte_writer.h"

namespace stackpack::etl {

namespace {

constexpr std::size_t kMostInBlock = 4096;  // halves that are read back at a time

void write_half(const WaitingHalf& half, const StackKeys& keys, io::ByteWriter& out) {
  out.write(half.event.clock);
  out.write(half.event.ip);
  out.write(half.event.pid);
  out.write(half.event.tid);
  out.write(half.event.kind);
  out.write(half.event.weight);
  out.write(half.event.cpu);
  out.write(half.event.flags);
  if (!keys.defined(half.kernel)) {  // the open generation stays in memory, it is shared
    out.write(std::uint8_t{1});
    out.write(half.kernel);
    return;
  }
  const std::span<const std::uint64_t> frames = keys.frames(half.kernel);
  out.write(std::uint8_t{0});
  out.write(std::uint64_t{frames.size()});
  for (const std::uint64_t frame : frames) {
    out.write(frame);
  }
}

}  // namespace

Status WaitingHalves::add(ThreadState& thread, const WaitingHalf& half) {
  thread.waiting.push_back(half);
  ++in_memory_;
  return in_memory_ > kMostInMemory ? spill_longest() : Status();
}

Status WaitingHalves::spill_longest() {
  std::vector<ThreadState*> longest;
  for (ThreadState& thread : threads_.all()) {
    if (!thread.waiting.empty()) {
      longest.push_back(&thread);
    }
  }
  std::stable_sort(longest.begin(), longest.end(), [](const ThreadState* a, const ThreadState* b) {
    return a->waiting.size() > b->waiting.size();
  });
  for (ThreadState* thread : longest) {
    if (in_memory_ <= kMostInMemory / 2) {
      break;
    }
    if (const Status done = spill(*thread); !done) {
      return done;
    }
  }
  return {};
}

Status WaitingHalves::spill(ThreadState& thread) {
  io::ByteWriter out;
  for (std::size_t begin = 0; begin < thread.waiting.size(); begin += kMostInBlock) {
    const std::size_t end = std::min(begin + kMostInBlock, thread.waiting.size());
    out.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const WaitingHalf& half = thread.waiting[i];
      write_half(half, keys_, out);
      if (keys_.defined(half.kernel)) {
        keys_.release(half.kernel);
      }
    }
    const Result<std::uint64_t> offset = scratch_.append(out.bytes());
    if (!offset) {
      return offset.error();
    }
    thread.spilled.push_back({*offset, out.size()});
  }
  in_memory_ -= thread.waiting.size();
  std::vector<WaitingHalf>().swap(thread.waiting);
  return {};
}

Status WaitingHalves::read_back(const SpilledHalves& block, std::vector<WaitingHalf>& halves) {
  std::vector<std::byte> bytes(block.size);
  if (const Status read = scratch_.read_at(block.offset, bytes); !read) {
    return read;
  }
  io::ByteCursor in(bytes, block.offset);
  std::vector<std::uint64_t> frames;
  while (in.remaining() != 0) {
    WaitingHalf half;
    half.event.clock = in.read<std::uint64_t>();
    half.event.ip = in.read<std::uint64_t>();
    half.event.pid = in.read<std::uint32_t>();
    half.event.tid = in.read<std::uint32_t>();
    half.event.kind = in.read<std::uint32_t>();
    half.event.weight = in.read<std::uint32_t>();
    half.event.cpu = in.read<std::uint16_t>();
    half.event.flags = in.read<std::uint8_t>();
    if (in.read<std::uint8_t>() != 0) {
      half.kernel = in.read<std::uint32_t>();
    } else {
      const auto count = in.read<std::uint64_t>();
      in.read_u64_array(count, frames);
      half.kernel = keys_.hold(frames);
    }
    if (!in.ok()) {
      return in.truncated("etl: scratch file");
    }
    halves.push_back(half);
  }
  return {};
}

}  // namespace stackpack::etl
