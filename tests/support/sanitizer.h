// Which sanitizer a test runs under.
#pragma once

#include <cstddef>

namespace stackpack::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

/// The step of a table over all bytes of a capture that is read on one thread: every byte, but
/// every 13th under the sanitizer for threads, which has nothing to find there and takes ten times
/// as long. A prime, so that no field of a record is always passed over.
inline constexpr std::size_t kByteStep = kThreadSanitizer ? 13 : 1;

}  // namespace stackpack::test
