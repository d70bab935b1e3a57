// What the handles of the C interface stand for, and how its functions fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
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

// Keeps the error for stackpack_get_error and returns its status.
stackpack_status fail(const Error& error) noexcept;

// Of a call that makes no sense. `what`: a static text.
stackpack_status refuse(std::string_view what) noexcept;

template <typename T>
stackpack_status status_of(const Result<T>& result) {
  return result.has_value() ? STACKPACK_OK : fail(result.error());
}

stackpack_status out_of_memory() noexcept;

// Runs `body`; what it throws, out of memory or a visitor's doing, becomes a status.
template <typename Body>
stackpack_status guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (...) {
    return refuse("a visitor threw an exception");
  }
}

inline stackpack_text text_of(std::string_view text) {
  return {text.empty() ? nullptr : text.data(), text.size()};
}

// Gives `value` to the caller, whose struct may be that of an earlier or a later version: what both
// have is written.
template <typename Struct>
stackpack_status hand_over(Struct* to, Struct value) noexcept {
  if (to == nullptr) {
    return refuse("a null pointer for the result");
  }
  const std::size_t size = to->struct_size;
  if (size < sizeof size + sizeof(std::uint32_t)) {
    return refuse("struct_size is not set");
  }
  value.struct_size = size;
  std::memcpy(to, &value, std::min(size, sizeof value));
  return STACKPACK_OK;
}

}  // namespace stackpack::bindings
