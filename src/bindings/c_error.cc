#include "bindings/c_handles.h"

namespace stackpack::bindings {

namespace {

struct Failure {
  stackpack_status status = STACKPACK_OK;
  Error error{ErrorCode::kUsage, kNoOffset, ""};
};

thread_local Failure latest_failure;
thread_local std::string latest_tried;

stackpack_status status_of(ErrorCode code) {
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
    case ErrorCode::kCancelled:
      return STACKPACK_CANCELLED;
    case ErrorCode::kUsage:
    case ErrorCode::kInternal:
      break;
  }
  return STACKPACK_USAGE;
}

}  // namespace

stackpack_status fail(const Error& error) noexcept {
  latest_failure = {status_of(error.code), error};
  latest_tried.clear();
  return latest_failure.status;
}

stackpack_status fail(const Error& error, std::span<const FormatTried> tried) {
  const stackpack_status status = fail(error);
  for (const FormatTried& format : tried) {
    latest_tried += (latest_tried.empty() ? "not read as " : "\nnot read as ") + format.format +
                    ": " + format.why;
  }
  return status;
}

stackpack_status refuse(std::string_view what) noexcept {
  return fail({ErrorCode::kUsage, kNoOffset, what});
}

stackpack_status out_of_memory() noexcept {
  return fail({ErrorCode::kResource, kNoOffset, "out of memory"});
}

}  // namespace stackpack::bindings

extern "C" {

stackpack_status stackpack_get_error(stackpack_error* error) {
  const stackpack::bindings::Failure failure = stackpack::bindings::latest_failure;
  stackpack_error value{};
  value.status = failure.status;
  value.os_error = failure.error.os_error;
  value.offset = failure.error.offset;
  value.what = failure.error.what.data();  // static texts end with a zero byte
  value.of_output = failure.error.part == stackpack::kOutputPart ? 1 : 0;
  value.tried = stackpack::bindings::latest_tried.c_str();
  return stackpack::bindings::hand_over(error, value);
}

}  // extern "C"
