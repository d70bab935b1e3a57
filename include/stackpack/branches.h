#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

namespace stackpack {

/// No image: an address that no mapping of the capture covers.
inline constexpr std::uint32_t kNoImage = ~std::uint32_t{0};

/// What a branch of a capture with branch stacks was (`perf record -b`): PERF_BR_* of
/// linux/perf_event.h, 0 where the recorder does not say. Types from 15 on are those of its second
/// list: 15 + 16 times their number there.
enum class BranchType : std::uint8_t {
  kUnknown = 0,
  kConditional,
  kUnconditional,
  kIndirect,
  kCall,
  kIndirectCall,
  kReturn,
  kSystemCall,
  kSystemReturn,
  kConditionalCall,
  kConditionalReturn,
  kExceptionReturn,
  kInterrupt,
  kSystemError,
  kNotInTransaction,
  kExtended,
};

/// A branch of a branch stack, as it was recorded.
struct StackedBranch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  /// From the lowest bit on: mispredicted, predicted, in a transaction, abort, 16 of cycles since
  /// the branch before, 4 of type, 2 of speculation, 4 of a type's second list, 3 of privilege:
  /// struct perf_branch_entry of linux/perf_event.h as a little-endian machine has it.
  std::uint64_t flags = 0;

  friend bool operator==(const StackedBranch&, const StackedBranch&) = default;
};

/// The bits of StackedBranch::flags with the cycles.
inline constexpr unsigned kBranchCyclesShift = 4;
inline constexpr std::uint64_t kBranchCyclesMask = std::uint64_t{0xFFFF} << kBranchCyclesShift;

/// How often a branch was taken, as far as samples show.
struct BranchEdge {
  std::uint32_t event = 0;              ///< row of Reader::events()
  std::uint32_t from_image = kNoImage;  ///< row of Reader::modules() that stands for the image
  std::uint64_t from = 0;  ///< of the branch: offset in the file, address without image
  std::uint32_t to_image = kNoImage;
  std::uint64_t to = 0;  ///< what it went to; an end that a filter of the recorder hid is 0
  BranchType type = BranchType::kUnknown;
  bool wrong_path = false;         ///< speculated, and given up
  std::uint64_t count = 0;         ///< above 0
  std::uint64_t mispredicted = 0;  ///< of count
  std::uint64_t cycles = 0;        ///< since the branch before, added up; 0: not recorded
  std::uint64_t head_duplicates =
      0;  ///< of count: the newest of its stack, and the second one, too
};

/// How often code ran through without a taken branch: from the target of one to the next one.
struct BranchRange {
  std::uint32_t event = 0;
  std::uint32_t image = 0;            ///< row of Reader::modules() that stands for the image
  std::uint64_t begin = 0;            ///< offsets in the file: of the first instruction, and
  std::uint64_t end = 0;              ///< of the last one, which is a branch
  std::uint64_t count = 0;            ///< above 0
  std::uint64_t head_duplicates = 0;  ///< of count: between the two newest, which are the same
  std::uint64_t wrong_path = 0;       ///< of count: one of the two branches was given up
};

/// What rows are ordered and told apart by; no image comes first.
inline auto branch_key(const BranchEdge& row) {
  return std::tuple(row.event, row.from_image + 1, row.from, row.to_image + 1, row.to, row.type,
                    row.wrong_path);
}
inline auto branch_key(const BranchRange& row) {
  return std::tuple(row.event, row.image + 1, row.begin, row.end);
}

/// Branches of a capture, summed up. A row of modules stands for all with its build id, or, where
/// it has none, with its path: it is the first of them.
struct Branches {
  std::vector<BranchEdge> edges;    ///< by branch_key()
  std::vector<BranchRange> ranges;  ///< by branch_key()
};

}  // namespace stackpack
