#pragma once

#include <cstdint>

namespace stackpack::io {

/// What a confined process may do about files.
enum class OpenCalls : std::uint8_t {
  kRefuse,  ///< it has those that are open
  kAsk,     ///< the calls that open one wait for the answer of another process
};

/// How a process was confined.
struct Confinement {
  bool done = false;  ///< false: the kernel refuses, or there is no filter for this machine
  /// Where the questions of OpenCalls::kAsk come in, to be taken by the process that answers them;
  /// -1: the kernel has no such thing, and no file can be opened.
  int questions = -1;
};

/// Leaves this process the calls of the system that reading open files, computing and answering
/// take: from now on it makes no file, program, process or connection, sends signals to nobody but
/// itself, and changes no limit. Other calls fail with EPERM. There is no way back.
///
/// It may still ask whether a path is there, and for its size: the C library's question for the
/// size of an open file is the same call, and a filter cannot look at a path.
[[nodiscard]] Confinement confine_calls(OpenCalls open);

}  // namespace stackpack::io
