#include "core/guard.h"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <doctest/doctest.h>

namespace stackpack::core {

TEST_CASE("guard: what is thrown becomes its error") {
  CHECK(guarded([]() -> Result<int> { return 7; }).value() == 7);
  const auto error_of = [](auto thrown) {
    return guarded([&]() -> Status { throw thrown; }).error();
  };
  CHECK(error_of(std::bad_alloc()).code == ErrorCode::kResource);
  CHECK(error_of(std::bad_alloc()).what == "out of memory");
  CHECK(error_of(std::length_error("vector")).code == ErrorCode::kResource);
  const Error refused = error_of(std::system_error(EAGAIN, std::system_category()));
  CHECK(refused.code == ErrorCode::kResource);
  CHECK(refused.os_error == EAGAIN);
  CHECK(error_of(std::logic_error("mistake")).code == ErrorCode::kInternal);
  CHECK(error_of(std::string("anything")).code == ErrorCode::kInternal);
}

TEST_CASE("guard: an error that is returned stays as it is") {
  const Status status = guarded([]() -> Status {
    return Error{ErrorCode::kCorrupt, 12, "test: bad"};
  });
  CHECK(status.error().code == ErrorCode::kCorrupt);
  CHECK(status.error().offset == 12);
}

}  // namespace stackpack::core
