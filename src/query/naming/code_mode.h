#pragma once

#include <cstdint>

#include "stackpack/model.h"
#include "stackpack/names.h"

namespace stackpack::query {

/// What kind of code a function is. The numbers are those of docs/page-format.md.
enum class CodeMode : std::uint8_t {
  kUser = 0,
  kKernel = 1,
  kMadeAtRunTime = 2,
  kUnknown = 3,
  kInlined = 4,  ///< wherever it occurs
};

/// Whether a function is code that a process made at run time. In a merged file, where it is a name
/// alone, that is known of those whose compiler or map says so.
bool is_made_at_run_time(const Function& function);

/// The mode of code that is no inlined call.
CodeMode code_mode(FrameMode mode, bool made_at_run_time);

/// Of the modes in which a function was seen, the one that says most.
CodeMode more_telling(CodeMode a, CodeMode b);

}  // namespace stackpack::query
