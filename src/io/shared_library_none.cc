// A program that is linked statically loads nothing; that of Windows is.
#include "io/shared_library.h"

namespace stackpack::io {

Result<SharedLibrary> SharedLibrary::open(const std::string& /*name*/) {
  return Error{ErrorCode::kNotFound, kNoOffset, "this program is static and loads no library"};
}

SharedLibrary::~SharedLibrary() = default;

void* SharedLibrary::symbol(const char* /*name*/) const {
  return handle_;
}

}  // namespace stackpack::io
