#include "symbolize/disassembler.h"

#include <algorithm>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"

namespace stackpack::symbolize {

namespace {

// Of an instruction in an answer: u64 address, u32 size, u32 bytes of the text.
constexpr std::size_t kLeastBytes = 16;

}  // namespace

bool is_machine_known(std::uint16_t machine) {
  return machine == kMachineX86 || machine == kMachineAarch64;
}

std::vector<std::byte> encode_instructions(std::span<const std::vector<Instruction>> pieces) {
  bytes::ByteWriter out;
  for (const std::vector<Instruction>& piece : pieces) {
    out.write(static_cast<std::uint32_t>(piece.size()));
    for (const Instruction& one : piece) {
      out.write(one.address);
      out.write(one.size);
      out.write(static_cast<std::uint32_t>(one.text.size()));
      out.write_text(one.text);
    }
  }
  return out.take();
}

Result<std::vector<std::vector<Instruction>>> decode_instructions(
    std::span<const std::byte> bytes) {
  std::vector<std::vector<Instruction>> pieces;
  bytes::ByteCursor in(bytes, 0);
  while (in.ok() && in.remaining() != 0) {
    std::vector<Instruction>& piece = pieces.emplace_back();
    const auto count = in.read<std::uint32_t>();
    piece.reserve(std::min<std::size_t>(count, in.remaining() / kLeastBytes));
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
      Instruction& one = piece.emplace_back();
      one.address = in.read<std::uint64_t>();
      one.size = in.read<std::uint32_t>();
      const std::span<const std::byte> text = in.read_bytes(in.read<std::uint32_t>());
      std::transform(text.begin(), text.end(), std::back_inserter(one.text),
                     [](std::byte byte) { return std::to_integer<char>(byte); });
    }
  }
  if (!in.ok()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "instructions end in the middle"};
  }
  return pieces;
}

}  // namespace stackpack::symbolize
