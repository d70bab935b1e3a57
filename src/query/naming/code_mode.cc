#include "query/naming/code_mode.h"

#include <algorithm>
#include <array>

namespace stackpack::exporting {

PageMode more_telling(PageMode a, PageMode b) {
  constexpr std::array kOrder = {PageMode::kKernel, PageMode::kMadeAtRunTime, PageMode::kUser,
                                 PageMode::kUnknown, PageMode::kInlined};
  return *std::find_if(kOrder.begin(), kOrder.end(),
                       [&](PageMode mode) { return mode == a || mode == b; });
}

PageMode page_mode(FrameMode mode, bool made_at_run_time) {
  switch (mode) {
    case FrameMode::kKernel:
    case FrameMode::kGuestKernel:
    case FrameMode::kHypervisor:
      return PageMode::kKernel;
    case FrameMode::kUnknown:
    case FrameMode::kGuest:
      return PageMode::kUnknown;
    case FrameMode::kUser:
    case FrameMode::kGuestUser:
      break;
  }
  return made_at_run_time ? PageMode::kMadeAtRunTime : PageMode::kUser;
}

}  // namespace stackpack::exporting
