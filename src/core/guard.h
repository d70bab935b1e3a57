#pragma once

#include <type_traits>
#include <utility>

#include "stackpack/result.h"

namespace stackpack::core {

/// The Error for the exception that is being handled; call it inside a catch block only.
///
/// Result: kResource for memory that ran out and for what the system refused (os_error is set),
///         kInternal for anything else. Allocates nothing.
Error error_of_exception();

/// Runs `work`, which returns a Result or Status. An exception of the libraries below, such as
/// std::bad_alloc, becomes its Error.
///
/// Where it belongs: around the body of a thread and around the functions of the public interface.
/// In between, exceptions pass: destructors free what was held.
template <typename Work>
std::invoke_result_t<Work> guarded(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return error_of_exception();
  }
}

}  // namespace stackpack::core
