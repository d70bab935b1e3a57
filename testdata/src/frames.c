// A program to record: threads that call each other's functions to varying depths, page faults, a
// fork and an exec. Built with frame pointers; testdata/README.md has the command.
//
// frames THREADS MILLISECONDS
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int milliseconds;
static volatile uint64_t sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void spin(unsigned seed) {
  for (unsigned i = 0; i < 20000 + (seed & 4095); ++i) {
    sink += i * seed;
  }
}

__attribute__((noinline)) static void touch(void) {
  char* pages = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 1, 1 << 16);
  munmap(pages, 1 << 16);
}

static void even(int depth, unsigned seed);

__attribute__((noinline)) static void odd(int depth, unsigned seed) {
  if (depth > 0) {
    even(depth - 1, seed * 1103515245u + 12345u);
  } else {
    spin(seed);
  }
  sink++;
}

__attribute__((noinline)) static void even(int depth, unsigned seed) {
  if (depth > 0) {
    odd(depth - 1, seed * 69069u + 1u);
  } else {
    touch();
  }
  sink++;
}

static void* work(void* argument) {
  unsigned seed = (unsigned)(uintptr_t)argument;
  const double end = now() + milliseconds * 1e-3;
  while (now() < end) {
    seed = seed * 1664525u + 1013904223u;
    odd((int)(seed >> 28), seed);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  milliseconds = argc > 2 ? atoi(argv[2]) : 100;
  pthread_t others[16];
  for (int i = 1; i < threads && i < 16; ++i) {
    pthread_create(&others[i], NULL, work, (void*)(uintptr_t)(i + 1));
    char name[16];
    snprintf(name, sizeof name, "worker-%d", i);
    pthread_setname_np(others[i], name);
  }
  work((void*)(uintptr_t)1);
  for (int i = 1; i < threads && i < 16; ++i) {
    pthread_join(others[i], NULL);
  }
  const pid_t child = fork();
  if (child == 0) {
    milliseconds /= 4;
    work((void*)(uintptr_t)99);
    execl("/bin/true", "true", (char*)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  return 0;
}
