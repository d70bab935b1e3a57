/* Makes one system call of a program fail. LD_PRELOAD it and set
 *
 *   FAULT_CALL   open, tmpfile (open with O_TMPFILE), stat, read, write, fsync, rename, link, dup,
 *                mkdir, thread (pthread_create), memory (malloc and its kind); read and write stand
 *                for all their forms
 *   FAULT_NTH    which one fails, from 1 on; 0: none
 *   FAULT_ERRNO  the number of the error; -1: the call does one byte only (read, write); -2: the
 *                process stops (SIGSTOP) before the call, which is then made
 *   FAULT_STAYS  when set, all later ones fail, too: a full disk stays full
 *   FAULT_LOG    a file to which the name of every fsync, rename and link is added, a line each
 *   FAULT_COUNT  a file into which the number of such calls goes at the end
 *
 * Calls on standard error are left alone: what a program says about a fault is looked at. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static const char* call_name;
static long nth;
static int fault_errno;
static int stays;
static int memory_counts; /* from main on: before it, other libraries set themselves up */

__attribute__((constructor)) static void begin(void) {
  call_name = getenv("FAULT_CALL");
  nth = getenv("FAULT_NTH") ? atol(getenv("FAULT_NTH")) : 0;
  fault_errno = getenv("FAULT_ERRNO") ? atoi(getenv("FAULT_ERRNO")) : EIO;
  stays = getenv("FAULT_STAYS") != NULL;
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("FAULT_COUNT");
  memory_counts = 0;
  FILE* file = path ? fopen(path, "w") : NULL;
  if (file != NULL) {
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
  }
}

static void keep_in_log(const char* name) {
  const char* path = getenv("FAULT_LOG");
  FILE* file = path != NULL ? fopen(path, "a") : NULL;
  if (file != NULL) {
    fprintf(file, "%s\n", name);
    fclose(file);
  }
}

/* Whether this call is to fail. */
static int fails(const char* name) {
  if (call_name == NULL || strcmp(call_name, name) != 0) {
    return 0;
  }
  const long number = atomic_fetch_add(&calls, 1) + 1;
  if (nth == 0 || (number != nth && (!stays || number < nth))) {
    return 0;
  }
  if (fault_errno == -2) {
    raise(SIGSTOP);
    return 0;
  }
  return 1;
}

static int fail(void) {
  errno = fault_errno;
  return -1;
}

/* The C library's own names: dlsym() would ask for memory itself. */
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);

static int refuses_memory(void) {
  if (!memory_counts || !fails("memory")) {
    return 0;
  }
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) {
  return refuses_memory() ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return refuses_memory() ? NULL : __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
  return refuses_memory() ? NULL : __libc_realloc(block, size);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int (*real_main)(int, char**, char**);

static int counted_main(int argc, char** argv, char** environment) {
  memory_counts = call_name != NULL && strcmp(call_name, "memory") == 0;
  const int status = real_main(argc, argv, environment);
  memory_counts = 0;
  return status;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  real_main = main;
  int (*start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
               void (*)(void), void*) = (__typeof__(start))dlsym(RTLD_NEXT, "__libc_start_main");
  return start(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

static int opens(int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE ? fails("tmpfile") : fails("open");
}

#define OPEN_MODE(flags)                                            \
  mode_t mode = 0;                                                  \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list arguments;                                              \
    va_start(arguments, flags);                                     \
    mode = va_arg(arguments, mode_t);                               \
    va_end(arguments);                                              \
  }

int open(const char* path, int flags, ...) {
  OPEN_MODE(flags)
  return opens(flags) ? fail() : REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  OPEN_MODE(flags)
  return opens(flags) ? fail() : REAL(open64)(path, flags, mode);
}

int __open_2(const char* path, int flags) {
  return opens(flags) ? fail() : REAL(open)(path, flags, 0);
}

int __open64_2(const char* path, int flags) {
  return opens(flags) ? fail() : REAL(open)(path, flags, 0);
}

int mkostemp(char* name, int flags) {
  return fails("open") ? fail() : REAL(mkostemp)(name, flags);
}

int stat(const char* path, struct stat* status) {
  return fails("stat") ? fail() : REAL(stat)(path, status);
}

int fstat(int descriptor, struct stat* status) {
  return fails("stat") ? fail() : REAL(fstat)(descriptor, status);
}

/* The size that is left of a transfer; 0: it fails. */
static size_t cut(const char* name, size_t size) {
  if (size == 0 || !fails(name)) {
    return size;
  }
  return fault_errno == -1 ? 1 : 0;
}

#define TRANSFER(kind, size, call)     \
  const size_t left = cut(kind, size); \
  return left == 0 && (size) != 0 ? fail() : call

ssize_t read(int descriptor, void* into, size_t size) {
  TRANSFER("read", size, REAL(read)(descriptor, into, left));
}

ssize_t __read_chk(int descriptor, void* into, size_t size, size_t room) {
  (void)room;
  TRANSFER("read", size, REAL(read)(descriptor, into, left));
}

ssize_t pread(int descriptor, void* into, size_t size, off_t offset) {
  TRANSFER("read", size, REAL(pread)(descriptor, into, left, offset));
}

ssize_t pread64(int descriptor, void* into, size_t size, off64_t offset) {
  TRANSFER("read", size, REAL(pread64)(descriptor, into, left, offset));
}

ssize_t __pread_chk(int descriptor, void* into, size_t size, off_t offset, size_t room) {
  (void)room;
  TRANSFER("read", size, REAL(pread)(descriptor, into, left, offset));
}

ssize_t __pread64_chk(int descriptor, void* into, size_t size, off64_t offset, size_t room) {
  (void)room;
  TRANSFER("read", size, REAL(pread64)(descriptor, into, left, offset));
}

ssize_t write(int descriptor, const void* from, size_t size) {
  if (descriptor == STDERR_FILENO) {
    return REAL(write)(descriptor, from, size);
  }
  TRANSFER("write", size, REAL(write)(descriptor, from, left));
}

ssize_t pwrite(int descriptor, const void* from, size_t size, off_t offset) {
  TRANSFER("write", size, REAL(pwrite)(descriptor, from, left, offset));
}

ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t offset) {
  TRANSFER("write", size, REAL(pwrite64)(descriptor, from, left, offset));
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  if (descriptor != STDERR_FILENO && fails("write")) {
    return fail();
  }
  return REAL(writev)(descriptor, parts, count);
}

int fsync(int descriptor) {
  keep_in_log("fsync");
  return fails("fsync") ? fail() : REAL(fsync)(descriptor);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  return fails("thread") ? fault_errno : REAL(pthread_create)(thread, attributes, start, argument);
}

int rename(const char* from, const char* to) {
  keep_in_log("rename");
  return fails("rename") ? fail() : REAL(rename)(from, to);
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  keep_in_log("link");
  return fails("link") ? fail() : REAL(linkat)(from_directory, from, to_directory, to, flags);
}

int mkdir(const char* path, mode_t mode) {
  return fails("mkdir") ? fail() : REAL(mkdir)(path, mode);
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return command == F_DUPFD_CLOEXEC && fails("dup") ? fail()
                                                    : REAL(fcntl)(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return command == F_DUPFD_CLOEXEC && fails("dup") ? fail()
                                                    : REAL(fcntl)(descriptor, command, argument);
}
