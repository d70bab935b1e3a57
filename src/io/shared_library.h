#pragma once

#include <string>

#include "stackpack/result.h"

namespace stackpack::io {

/// A library of the system's that is loaded while the program runs.
class SharedLibrary {
 public:
  /// `name`: a path, or a file name that the system's loader looks for. Errors: kNotFound: there is
  /// none, it cannot be loaded, or this program is linked so that it can load none.
  static Result<SharedLibrary> open(const std::string& name);

  SharedLibrary(SharedLibrary&& other) noexcept : handle_(other.handle_) {
    other.handle_ = nullptr;
  }
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary();

  /// The function of that name; null: there is none.
  template <typename Function>
  [[nodiscard]] Function function(const char* name) const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as dlsym gives them
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_;
};

}  // namespace stackpack::io
