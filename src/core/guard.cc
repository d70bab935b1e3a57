#include "core/guard.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace stackpack::core {

Error error_of_exception() {
  const Error out_of_memory{ErrorCode::kResource, kNoOffset, "out of memory"};
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  } catch (const std::length_error&) {  // a container beyond the address space
    return out_of_memory;
  } catch (const std::system_error& refused) {
    return {ErrorCode::kResource, kNoOffset, "refused by the system", refused.code().value()};
  } catch (...) {
    return {ErrorCode::kInternal, kNoOffset, "unexpected exception"};
  }
}

}  // namespace stackpack::core
