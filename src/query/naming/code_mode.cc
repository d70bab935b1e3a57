#include "query/naming/code_mode.h"

#include <algorithm>
#include <array>

namespace stackpack::query {

CodeMode more_telling(CodeMode a, CodeMode b) {
  constexpr std::array kOrder = {CodeMode::kKernel, CodeMode::kMadeAtRunTime, CodeMode::kUser,
                                 CodeMode::kUnknown, CodeMode::kInlined};
  return *std::find_if(kOrder.begin(), kOrder.end(),
                       [&](CodeMode mode) { return mode == a || mode == b; });
}

CodeMode code_mode(FrameMode mode, bool made_at_run_time) {
  switch (mode) {
    case FrameMode::kKernel:
    case FrameMode::kGuestKernel:
    case FrameMode::kHypervisor:
      return CodeMode::kKernel;
    case FrameMode::kUnknown:
    case FrameMode::kGuest:
      return CodeMode::kUnknown;
    case FrameMode::kUser:
    case FrameMode::kGuestUser:
      break;
  }
  return made_at_run_time ? CodeMode::kMadeAtRunTime : CodeMode::kUser;
}

}  // namespace stackpack::query
