#include "unwind/code_tables.h"

#include <algorithm>
#include <utility>

#include "unwind/cfa_program.h"
#include "unwind/frame_section.h"

namespace stackpack::unwind {

namespace {

constexpr std::size_t kPairBytes = 8;
// 4 bytes, signed, relative to the header: what every linker writes.
constexpr std::uint8_t kUsualTable = 0x3B;

struct Pair {
  std::uint64_t begin = 0;
  std::uint64_t place = 0;
};

Pair pair_at(std::span<const std::byte> pairs, std::size_t index, std::uint64_t base) {
  bytes::ByteCursor in(pairs.subspan(index * kPairBytes, kPairBytes), 0);
  const auto relative = [&in, base] {
    return base + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                      static_cast<std::int32_t>(in.read<std::uint32_t>())));
  };
  Pair pair;
  pair.begin = relative();
  pair.place = relative();
  return pair;
}

// The code at the entry point goes on for less than this before it calls.
constexpr std::uint64_t kEntryBytes = 128;

}  // namespace

FdeIndex::FdeIndex(const FrameSection& section, std::span<const std::byte> header,
                   std::uint64_t header_address)
    : section_(section) {
  if (!use_header(header, header_address)) {
    made_ = made_table();
  }
}

bool FdeIndex::use_header(std::span<const std::byte> header, std::uint64_t header_address) {
  bytes::ByteCursor in(header, 0);
  const auto version = in.read<std::uint8_t>();
  const auto frame_encoding = in.read<std::uint8_t>();
  const auto count_encoding = in.read<std::uint8_t>();
  const auto table_encoding = in.read<std::uint8_t>();
  const PointerBases bases{header_address, header_address};
  const auto frames = read_encoded(in, frame_encoding, bases);
  const auto count = read_encoded(in, count_encoding, bases);
  if (!in.ok() || version != 1 || table_encoding != kUsualTable || !frames || !count ||
      *count == 0 || *count > in.remaining() / kPairBytes) {
    return false;
  }
  pairs_ = in.read_bytes(*count * kPairBytes);
  base_ = header_address;
  return true;
}

std::vector<FdeIndex::Made> FdeIndex::made_table() const {
  std::vector<Made> table;
  section_.each_fde([&table](std::uint64_t offset, const Fde& fde) {
    if (fde.size != 0) {
      table.push_back({fde.begin, offset});
    }
    return table.size() < kMostMade;
  });
  std::stable_sort(table.begin(), table.end(),
                   [](const Made& a, const Made& b) { return a.begin < b.begin; });
  return table;
}

bool FdeIndex::is_as_made() const {
  if (pairs_.empty()) {
    return true;
  }
  const std::vector<Made> table = made_table();
  if (table.size() != pairs_.size() / kPairBytes) {
    return false;
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Pair pair = pair_at(pairs_, i, base_);
    if (pair.begin != table[i].begin || pair.place - section_.address() != table[i].offset) {
      return false;
    }
  }
  return true;
}

std::optional<Fde> FdeIndex::find_by_header(std::uint64_t address) const {
  std::size_t low = 0;
  std::size_t high = pairs_.size() / kPairBytes;
  while (low < high) {  // the first pair that begins after the address
    const std::size_t middle = low + (high - low) / 2;
    if (pair_at(pairs_, middle, base_).begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) {
    return std::nullopt;
  }
  return section_.fde_at(pair_at(pairs_, low - 1, base_).place - section_.address());
}

std::optional<Fde> FdeIndex::find(std::uint64_t address) const {
  std::optional<Fde> fde;
  if (!pairs_.empty()) {
    fde = find_by_header(address);
  } else {
    const auto after = std::upper_bound(
        made_.begin(), made_.end(), address,
        [](std::uint64_t wanted, const Made& made) { return wanted < made.begin; });
    if (after != made_.begin()) {
      fde = section_.fde_at((after - 1)->offset);
    }
  }
  return fde && fde->covers(address) ? fde : std::nullopt;
}

CodeTables::CodeTables(ElfLayout layout, LoadedSection debug_frame, std::uint64_t steps)
    : layout_(std::move(layout)), steps_(steps) {
  if (!debug_frame.bytes.empty()) {
    layout_.debug_frame = std::move(debug_frame);
  }
  if (!layout_.eh_frame.bytes.empty()) {
    eh_frame_ = FdeIndex(
        FrameSection(layout_.eh_frame.bytes, layout_.eh_frame.address, FrameFormat::kEhFrame),
        layout_.eh_frame_header.bytes, layout_.eh_frame_header.address);
  }
  if (!layout_.debug_frame.bytes.empty()) {
    debug_frame_ = FdeIndex(FrameSection(layout_.debug_frame.bytes, layout_.debug_frame.address,
                                         FrameFormat::kDebugFrame),
                            {}, 0);
  }
}

CodeTables::Found CodeTables::find(std::uint64_t address, RuleTable& rules) {
  std::span<const std::byte> bytes = layout_.eh_frame.bytes;
  std::optional<Fde> fde = eh_frame_.find(address);
  if (!fde) {
    fde = debug_frame_.find(address);
    bytes = layout_.debug_frame.bytes;
  }
  if (!fde) {
    const bool entry = layout_.entry != 0 && address - layout_.entry < kEntryBytes;
    return {entry ? TableAnswer::kEntryPoint : TableAnswer::kNone, RuleTable::kNone};
  }
  FrameRow row;
  if (run_to(*fde, address, steps_, row) != ProgramEnd::kRow) {
    return {TableAnswer::kBad, RuleTable::kNone};
  }
  const std::uint32_t rule =
      rules.number(row, bytes, fde->cie.return_register, fde->cie.is_signal_frame);
  return {rule == RuleTable::kNone ? TableAnswer::kBad : TableAnswer::kRule, rule};
}

std::size_t CodeTables::memory_bytes() const {
  return layout_.memory_bytes() + eh_frame_.memory_bytes() + debug_frame_.memory_bytes();
}

}  // namespace stackpack::unwind
