#include "io/client_program.h"

namespace stackpack::io {

Result<int> run_client(const ClientProgram& /*program*/, const std::function<bool()>& /*goes_on*/) {
  return Error{ErrorCode::kNotFound, kNoOffset, "cannot start a program"};
}

}  // namespace stackpack::io
