#include "query/naming/code_mode.h"

#include <algorithm>
#include <array>

#include "capture/rebased_addresses.h"

namespace stackpack::query {

CodeMode more_telling(CodeMode a, CodeMode b) {
  constexpr std::array kOrder = {CodeMode::kKernel, CodeMode::kMadeAtRunTime, CodeMode::kUser,
                                 CodeMode::kUnknown, CodeMode::kInlined};
  return *std::find_if(kOrder.begin(), kOrder.end(),
                       [&](CodeMode mode) { return mode == a || mode == b; });
}

bool is_made_at_run_time(const Function& function) {
  constexpr std::array kOfProcesses = {FunctionSource::kClr, FunctionSource::kJScript,
                                       FunctionSource::kPerfMap, FunctionSource::kJitdump};
  const bool is_name = function.owner == FunctionOwner::kKernel &&
                       capture::RebasedAddresses::is_name(function.start);
  return function.owner == FunctionOwner::kProcess ||
         (is_name && std::find(kOfProcesses.begin(), kOfProcesses.end(), function.source) !=
                         kOfProcesses.end());
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
