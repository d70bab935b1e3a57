// What is behind the handles of the C interface, and how it fails.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "stackpack/c_api.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

struct stackpack_reader {  // NOLINT(readability-identifier-naming): a C name
  std::unique_ptr<stackpack::Reader> reader;
  std::vector<stackpack::Event> events;
};

namespace stackpack::bindings {

inline stackpack_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo:
      return STACKPACK_IO;
    case ErrorCode::kNotFound:
      return STACKPACK_NOT_FOUND;
    case ErrorCode::kTruncated:
      return STACKPACK_TRUNCATED;
    case ErrorCode::kCorrupt:
      return STACKPACK_CORRUPT;
    case ErrorCode::kUnsupported:
      return STACKPACK_UNSUPPORTED;
    case ErrorCode::kLimit:
      return STACKPACK_LIMIT;
    case ErrorCode::kResource:
      return STACKPACK_OUT_OF_MEMORY;
    case ErrorCode::kUsage:
    case ErrorCode::kCancelled:
    case ErrorCode::kInternal:
      break;
  }
  return STACKPACK_USAGE;
}

template <typename T>
stackpack_status status_of(const Result<T>& result) {
  return result.has_value() ? STACKPACK_OK : status_of(result.error().code);
}

// Runs `body`; what it throws, out of memory or a visitor's doing, becomes a status.
template <typename Body>
stackpack_status guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return STACKPACK_OUT_OF_MEMORY;
  } catch (...) {
    return STACKPACK_USAGE;
  }
}

}  // namespace stackpack::bindings
