/* A program that loads the C API of a wheel, as Python's cffi does, converts, and reads what came
 * of it: load_library LIBRARY CAPTURE OUTPUT. Elsewhere than on Windows it does so in a thread as
 * the C library makes them, whose stack is small with musl unless the library sees to that. */
#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#endif

#include "stackpack/c_convert.h"
#include "stackpack/c_reader.h"

typedef stackpack_status (*convert_function)(const char*, const char*,
                                             const stackpack_convert_options*,
                                             stackpack_convert_report*);
typedef stackpack_status (*open_function)(const char*, uint64_t, stackpack_reader**);
typedef stackpack_status (*reader_function)(const stackpack_reader*);
typedef stackpack_status (*summary_function)(const stackpack_reader*, stackpack_summary*);
typedef stackpack_status (*callstack_function)(const stackpack_reader*, uint32_t, stackpack_frame*,
                                               size_t, size_t*);
typedef void (*close_function)(stackpack_reader*);

struct job {
  const char* library;
  const char* capture;
  const char* output;
  int result;
};

static void* named(const char* library, const char* name) {
#ifdef _WIN32
  const HMODULE module = LoadLibraryA(library);
  void* found = module == NULL ? NULL : (void*)GetProcAddress(module, name);
#else
  void* module = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) {
    fprintf(stderr, "%s\n", dlerror());
  }
  void* found = module == NULL ? NULL : dlsym(module, name);
#endif
  if (found == NULL) {
    fprintf(stderr, "%s: no %s\n", library, name);
    exit(1);
  }
  return found;
}

/* All callstacks of a file, by way of their ids. */
static int read_all(const char* library, const char* path) {
  stackpack_reader* reader = NULL;
  stackpack_summary summary = {.struct_size = sizeof summary};
  uint64_t frames = 0;
  int result = (int)((open_function)named(library, "stackpack_open"))(path, 0, &reader);
  if (result == 0) {
    result = (int)((reader_function)named(library, "stackpack_verify"))(reader);
  }
  if (result == 0) {
    result = (int)((summary_function)named(library, "stackpack_get_summary"))(reader, &summary);
  }
  for (uint64_t id = 0; result == 0 && id < summary.stacks; ++id) {
    size_t depth = 0;
    result = (int)((callstack_function)named(library, "stackpack_get_callstack"))(
        reader, (uint32_t)id, NULL, 0, &depth);
    frames += depth;
  }
  ((close_function)named(library, "stackpack_close"))(reader);
  printf("%llu callstacks of %llu frames\n", (unsigned long long)summary.stacks,
         (unsigned long long)frames);
  return result == 0 && frames == 0 ? 1 : result;
}

static void* run(void* given) {
  struct job* job = given;
  job->result = (int)((convert_function)named(job->library, "stackpack_convert"))(
      job->capture, job->output, NULL, NULL);
  if (job->result == 0) {
    job->result = read_all(job->library, job->output);
  }
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 4) {
    return 64;
  }
  struct job job = {arguments[1], arguments[2], arguments[3], 1};
#ifdef _WIN32
  run(&job);
#else
  named(job.library, "stackpack_convert");
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &job) != 0 || pthread_join(thread, NULL) != 0) {
    return 1;
  }
#endif
  return job.result;
}
