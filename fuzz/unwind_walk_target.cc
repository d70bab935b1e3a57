// Walks of stacks: whatever tables and stack, a walk ends, with frames that are code.
//
// First byte: bit 0 the machine, bit 1 in the kernel, bit 2 dump not filled. Then u16: bytes of
// .eh_frame (at 0x9000), which follow. The rest is the stack, at 0x70000000, and its first words
// are also the registers that are not given.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "bytes/byte_cursor.h"
#include "fuzz/require.h"
#include "unwind/stack_walk.h"

namespace stackpack::fuzz {

namespace {

constexpr std::uint64_t kWalkStack = 0x7000'0000;
constexpr std::uint64_t kCodeBegin = 0x1000;
constexpr std::uint64_t kImageEnd = 0x2000;
constexpr std::uint64_t kCodeEnd = 0x2400;  // from kImageEnd on made at run time

}  // namespace

void unwind_walk(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  const auto kind = in.read<std::uint8_t>();
  const auto size = in.read<std::uint16_t>();
  const std::span<const std::byte> section =
      in.read_bytes(std::min<std::size_t>(size, in.remaining()));
  const std::span<const std::byte> stack = in.rest();
  const auto machine = (kind & 1) == 0 ? unwind::Machine::kX64 : unwind::Machine::kAarch64;
  unwind::ElfLayout layout;
  layout.machine = machine;
  layout.entry = 0x1F00;
  layout.eh_frame = {0x9000, {section.begin(), section.end()}};
  unwind::CodeTables tables(std::move(layout), {}, 100'000);
  unwind::StackWalker walker(
      machine,
      [&tables](std::uint32_t, std::uint64_t address) {
        unwind::CodePlace place;
        if (address >= kCodeBegin && address < kImageEnd) {
          place = {unwind::CodePlace::Kind::kImage, 0, address, &tables};
        } else if (address >= kImageEnd && address < kCodeEnd) {
          place.kind = unwind::CodePlace::Kind::kNoFile;
        }
        return place;
      },
      [](std::uint32_t, std::uint64_t address) { return address % 2 == 0; });
  unwind::ThreadState thread;
  bytes::ByteCursor words(stack, 0);
  for (unsigned number = 0; number < unwind::kRegisters; ++number) {
    thread.registers.set(number, words.read<std::uint64_t>());
  }
  const unwind::MachineTraits traits = unwind::traits_of(machine);
  thread.registers.set(traits.stack_pointer, kWalkStack);
  thread.registers.set(traits.pc, kCodeBegin + thread.registers.values[0] % 0x1800);
  thread.memory = unwind::StackMemory(kWalkStack, stack);
  thread.in_kernel = (kind & 2) != 0;
  thread.filled = (kind & 4) == 0;
  const unwind::WalkEnd end = walker.walk(1, thread);
  const auto frames = walker.frames();
  require(!frames.empty() && frames.size() <= unwind::StackWalker::kMostFrames);
  for (const std::uint64_t frame : frames.subspan(1)) {
    require(frame >= kCodeBegin && frame <= kCodeEnd);
  }
  const std::size_t depth = frames.size();
  require(walker.walk(1, thread) == end && walker.frames().size() == depth);
}

}  // namespace stackpack::fuzz
