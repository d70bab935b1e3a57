// Branches of hostile files, and segments of hostile binaries: profiles and loops of them end well,
// and loops have the entries that counting jump by jump gives.
//
// Rows of three numbers of 8 bytes; the lowest bits of the first one say what a row is.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/branches/branch_profile.h"
#include "app/branches/loop_finder.h"
#include "bytes/byte_cursor.h"
#include "fuzz/require.h"

namespace stackpack::fuzz {

namespace {

struct FuzzedProgram {
  symbolize::ElfIdentity elf;
  Branches branches;
  std::vector<app::TakenJump> jumps;
  app::CodeRuns runs;
};

void take_row(std::uint64_t kind, std::uint64_t a, std::uint64_t b, FuzzedProgram& program) {
  constexpr std::uint64_t kCount = 0xFFFF;
  const std::uint64_t count = 1 + (kind >> 8U & kCount);
  if (kind % 4 == 0) {
    program.elf.segments.push_back({.offset = a,
                                    .address = b,
                                    .file_bytes = count << 8U,
                                    .memory_bytes = count << 8U,
                                    .executable = (kind & 4U) != 0});
    program.elf.has_image_offsets = true;
  } else if (kind % 4 == 1 && a <= b) {
    BranchRange range;
    range.begin = a;
    range.end = b;
    range.count = count;
    range.head_duplicates = kind >> 24U & kCount;
    range.wrong_path = kind >> 40U & kCount;
    program.branches.ranges.push_back(range);
    program.runs.add(a, b, count);
  } else {
    BranchEdge edge;
    edge.from_image = (kind & 8U) != 0 ? kNoImage : 0;
    edge.to_image = (kind & 16U) != 0 ? kNoImage : 0;
    edge.from = a;
    edge.to = b;
    edge.count = count;
    edge.wrong_path = (kind & 32U) != 0;
    program.branches.edges.push_back(edge);
    program.jumps.push_back({a, b, count, (kind & 64U) != 0});
  }
}

void check_loops(FuzzedProgram& program) {
  program.runs.settle();
  constexpr std::size_t kMostLoops = 64;
  const std::vector<app::FoundLoop> loops = app::find_loops(program.jumps, program.runs);
  for (std::size_t i = 0; i < loops.size() && i < kMostLoops; ++i) {
    require(loops[i].head <= loops[i].last_branch);
    std::uint64_t reached = program.runs.into(loops[i].head);
    for (const app::TakenJump& jump : program.jumps) {
      reached += jump.to == loops[i].head ? jump.count : 0;
    }
    require(loops[i].iterations == reached);
  }
}

}  // namespace

void branch_profiles(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  FuzzedProgram program;
  constexpr std::size_t kRowBytes = 24;
  while (in.remaining() >= kRowBytes) {
    const auto kind = in.read<std::uint64_t>();
    const auto a = in.read<std::uint64_t>();
    const auto b = in.read<std::uint64_t>();
    take_row(kind, a, b, program);
  }
  for (const app::BranchProfile profile : {app::BranchProfile::kBolt, app::BranchProfile::kAutofdo,
                                           app::BranchProfile::kLlvmProfgen}) {
    const auto images = app::branches_by_image(program.branches, app::default_rules(profile));
    for (const auto& [row, image] : images) {
      static_cast<void>(image.covered_bytes());
      static_cast<void>(app::branch_profile_text(profile, image, program.elf));
    }
  }
  check_loops(program);
}

}  // namespace stackpack::fuzz
