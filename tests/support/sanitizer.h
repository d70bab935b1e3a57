// How much a test does under a sanitizer.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace stackpack::test {

/// The step of a table over all bytes of a capture that is read on one thread. Every byte; under a
/// sanitizer, which takes three to ten times as long, every third or (that for threads, which has
/// nothing to find there) every 13th. Primes, so that no field of a record is always passed over. A
/// scheduled run sets STACKPACK_EVERY_BYTE.
inline std::size_t byte_step() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#if defined(__SANITIZE_THREAD__)
  constexpr std::size_t kStep = 13;
#else
  constexpr std::size_t kStep = 3;
#endif
  const char* const every_byte = std::getenv("STACKPACK_EVERY_BYTE");
  return every_byte != nullptr ? 1 : kStep;
#else
  return 1;
#endif
}

}  // namespace stackpack::test
