// How much a test does under a sanitizer.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace stackpack::test {

/// The suite of long tests that use threads as shorter ones do, or none: the thread sanitizer finds
/// nothing more there.
constexpr const char* kNoThreadsOfItsOwn = "no threads of its own";

/// A scheduled run sets STACKPACK_EVERY_BYTE: then nothing is shortened.
inline bool every_byte() {
  return std::getenv("STACKPACK_EVERY_BYTE") != nullptr;
}

/// The step of a table over all bytes of a capture that is read on one thread. Every byte; less
/// where it takes three to ten times as long: under a sanitizer, and as the program for Windows,
/// whose parsers have the same source. Primes, so that no field of a record is always passed over.
inline std::size_t byte_step() {
#if defined(__SANITIZE_THREAD__) || defined(_WIN32)
  return every_byte() ? 1 : 13;
#elif defined(__SANITIZE_ADDRESS__)
  return every_byte() ? 1 : 7;
#else
  return 1;
#endif
}

/// Whether the tests of that suite are left out.
inline bool leaves_out_same_threads() {
#if defined(__SANITIZE_THREAD__)
  return !every_byte();
#else
  return false;
#endif
}

}  // namespace stackpack::test
