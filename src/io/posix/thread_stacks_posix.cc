// The stacks of threads where the C library makes small ones, as musl does: 128 KiB, unless the
// program was linked for more. A conversion takes more than that, and threads of this library and
// of a program that calls it get no other.

#if defined(__linux__) && !defined(__GLIBC__)

#include <cstddef>

#include <pthread.h>

namespace stackpack::io {

namespace {

constexpr std::size_t kLeastStackBytes = std::size_t{2} << 20;

// When the library is loaded: threads that were there before keep what they have.
[[gnu::constructor]] void have_larger_stacks() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (::pthread_getattr_default_np(&attributes) == 0 &&
      ::pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < kLeastStackBytes &&
      ::pthread_attr_setstacksize(&attributes, kLeastStackBytes) == 0) {
    ::pthread_setattr_default_np(&attributes);
  }
}

}  // namespace

}  // namespace stackpack::io

#endif
