#include "io/running_vdso.h"

namespace stackpack::io {

Result<Descriptor> open_running_vdso() {
  return Error{ErrorCode::kNotFound, kNoOffset, "there is no vdso here"};
}

}  // namespace stackpack::io
