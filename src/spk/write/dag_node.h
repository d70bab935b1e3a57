#pragma once

#include <cstdint>

namespace stackpack::spk {

/// One node of the canonical order (dag/frozen_dag.h).
struct DagNode {
  std::uint32_t frame = 0;  ///< index in the frame dictionary
  std::uint16_t depth = 0;  ///< 1 = child of the root
  bool ends_stack = false;
};

}  // namespace stackpack::spk
