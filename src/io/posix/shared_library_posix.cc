#include <dlfcn.h>

#include "io/shared_library.h"

namespace stackpack::io {

Result<SharedLibrary> SharedLibrary::open(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{ErrorCode::kNotFound, kNoOffset, "the library cannot be loaded"};
  }
  return SharedLibrary(handle);
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

void* SharedLibrary::symbol(const char* name) const {
  return dlsym(handle_, name);
}

}  // namespace stackpack::io
