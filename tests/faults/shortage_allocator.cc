#include "faults/shortage_allocator.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stackpack::test {
namespace {

std::atomic<bool> counting_memory = false;
std::atomic<bool> counting_threads = false;
std::atomic<std::uint64_t> requests = 0;
std::atomic<std::uint64_t> refused_number = 0;
std::atomic<bool> refusal_stays = false;

bool refuses(const std::atomic<bool>& counting) {
  if (!counting.load(std::memory_order_relaxed)) {
    return false;
  }
  const std::uint64_t number = ++requests;
  const std::uint64_t refused = refused_number;
  return refused != 0 && (number == refused || (refusal_stays && number > refused));
}

bool refuses_memory() {
  const bool refused = refuses(counting_memory);
  if (refused) {
    errno = ENOMEM;
  }
  return refused;
}

}  // namespace

void begin_shortage(Shortage what, std::uint64_t nth, bool stays) {
  requests = 0;
  refused_number = nth;
  refusal_stays = stays;
  (what == Shortage::kMemory ? counting_memory : counting_threads) = true;
}

std::uint64_t end_shortage() {
  counting_memory = false;
  counting_threads = false;
  return requests;
}

}  // namespace stackpack::test

using stackpack::test::refuses_memory;

// NOLINTBEGIN: names of the C library
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  return refuses_memory() ? nullptr : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return refuses_memory() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
  return refuses_memory() ? nullptr : __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return refuses_memory() ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = refuses_memory() ? nullptr : __libc_memalign(alignment, size);
  return *block != nullptr ? 0 : ENOMEM;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && refuses_memory()) {
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return stackpack::test::refuses(stackpack::test::counting_threads)
             ? EAGAIN
             : create(thread, attributes, start, argument);
}

}  // extern "C"
// NOLINTEND
