#pragma once

#include <optional>

#include "spk/format/layout.h"

namespace stackpack::spk {

/// The sections in which a DAG of callstacks lies, or one of branch stacks, whose frames are
/// numbers of branches.
struct DagSections {
  std::optional<SectionKind> frames;   ///< none: frame i is number i
  std::optional<SectionKind> numbers;  ///< where there is none: the section with so many items
  SectionKind edges;
  SectionKind pages;
  SectionKind page_index;
};

inline constexpr DagSections kCallstackSections{
    SectionKind::kFrames, {}, SectionKind::kEdges, SectionKind::kPages, SectionKind::kPageIndex};
inline constexpr DagSections kBranchStackSections{{},
                                                  SectionKind::kBranchEntries,
                                                  SectionKind::kBranchSuccessors,
                                                  SectionKind::kBranchPages,
                                                  SectionKind::kBranchPageIndex};
/// The cycles between the branches of stacks, whose frames have them in place of addresses.
inline constexpr DagSections kCycleSections{SectionKind::kCycleValues,
                                            {},
                                            SectionKind::kCycleSuccessors,
                                            SectionKind::kCyclePages,
                                            SectionKind::kCyclePageIndex};

}  // namespace stackpack::spk
