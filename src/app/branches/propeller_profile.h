// The order of basic blocks and functions that branches ask for, as Propeller has it: the profile
// that create_llvm_prof --format=propeller writes for Clang, and the one that it writes for the
// linker.
//
// Hot blocks of a function come one after the other in the order in which they run most, those
// without a run are left to its cold part. Functions follow those that call them most. Which order
// is best is a question of its own: ours is that of chains of heaviest edges (Pettis and Hansen)
// and of call-chain clustering (C3), theirs that of Ext-TSP.
#pragma once

#include <cstdint>
#include <string>

#include "app/branches/image_branches.h"
#include "symbolize/block_map.h"
#include "symbolize/symbol_table.h"

namespace stackpack::app {

struct PropellerProfile {
  std::string clusters;         ///< for clang -fbasic-block-sections=list=
  std::string order;            ///< for ld.lld --symbol-ordering-file=
  std::uint64_t functions = 0;  ///< in both
  std::uint64_t unnamed = 0;    ///< hot functions without a name of their own, left out
  std::uint64_t outside = 0;    ///< branches and ranges outside of all blocks
};

/// Memory: that of the map, twice. Time: n log n of blocks, branches and ranges.
PropellerProfile propeller_profile(const PlacedBranches& placed, const symbolize::BlockMap& map,
                                   const symbolize::SymbolTable& symbols);

}  // namespace stackpack::app
