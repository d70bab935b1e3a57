#pragma once

#include "stackpack/result.h"

namespace stackpack::cli {

/// What the program returns to its caller; part of its contract (docs/cli.md).
enum ExitCode : int {
  kExitSuccess = 0,
  kExitUsage = 1,     ///< the command line makes no sense
  kExitBadInput = 2,  ///< the input or file is bad; nothing useful was written
  kExitLossy = 3,     ///< done, but with losses and --strict, or a --check or --fail-if failed
  kExitIo = 4,        ///< an I/O or resource error of ours: disk full, permission, memory
  kExitInternal = 70,
};

constexpr int exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUsage:
      return kExitUsage;
    case ErrorCode::kIo:
    case ErrorCode::kResource:
      return kExitIo;
    case ErrorCode::kInternal:
      return kExitInternal;
    case ErrorCode::kNotFound:
    case ErrorCode::kTruncated:
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
    case ErrorCode::kLimit:
    case ErrorCode::kCancelled:
      return kExitBadInput;
  }
  return kExitInternal;
}

}  // namespace stackpack::cli
