// Compiles a function at run time that keeps no frame pointer, and says so in a jitdump file:
// `run_time_program FOLDER`. Its callers are found by what is written there about its frames alone.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) long busy_leaf(long n) {
  for (int i = 0; i < 20000; ++i) {
    n = n * 31 + i;
    __asm__ volatile("" : "+r"(n));
  }
  return n + 1;
}

__attribute__((noinline)) long calls_compiled_code(long (*compiled)(long (*)(long), long)) {
  long sum = 0;
  for (int i = 0; i < 20000; ++i) {
    sum += compiled(busy_leaf, i);
  }
  return sum;
}

int main(int count, char** arguments) {
  // push rbp; sub rsp, 32; xor ebp, ebp; mov rax, rdi; mov rdi, rsi; call rax; add rsp, 32; pop
  // rbp; ret
  static const uint8_t code[] = {0x55, 0x48, 0x83, 0xEC, 0x20, 0x31, 0xED, 0x48,
                                 0x89, 0xF8, 0x48, 0x89, 0xF7, 0xFF, 0xD0, 0x48,
                                 0x83, 0xC4, 0x20, 0x5D, 0xC3, 0xCC, 0xCC, 0xCC};
  static const uint8_t frames[] = {
      // CIE: "zR", addresses relative and of 4 bytes; the caller's frame at rsp+8, its address
      // below.
      20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8, 0x90, 1, 0, 0,
      // FDE: its code is 24 + 24 + 8 bytes before the field.
      28, 0, 0, 0, 28, 0, 0, 0, 0xC8, 0xFF, 0xFF, 0xFF, 24, 0, 0, 0, 0, 0x41, 0x0E, 16, 0x86,
      2,               // after 1: rsp+16, rbp saved below
      0x44, 0x0E, 48,  // after 4 more: rsp+48
      0x4E, 0x0E, 16,  // after 14 more: rsp+16
      0x41, 0x0E, 8,   // after the pop
      0, 0, 0, 0, 0,   // the end
      // .eh_frame_hdr, 84 bytes after the code: where that is, and of the one function code and
      // FDE.
      1, 0x1B, 0x03, 0x3B, 0xC0, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0xAC, 0xFF, 0xFF, 0xFF, 0xDC, 0xFF,
      0xFF, 0xFF};
  if (count != 2) {
    return 2;
  }
  char* place =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(place, code, sizeof code);

  char path[4096];
  snprintf(path, sizeof path, "%s/jit-%d.dump", arguments[1], (int)getpid());
  const int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  if (place == MAP_FAILED || file < 0 ||
      mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) {
    return 2;
  }
  struct {
    uint32_t magic, version, size, machine, pad, pid;
    uint64_t time, flags;
  } head = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid(), now(), 0};
  struct {
    uint32_t id, size;
    uint64_t time, bytes, header_bytes, mapped;
  } unwinding = {4, sizeof unwinding + sizeof frames, now(), sizeof frames, 20, sizeof frames};
  static const char name[] = "compiled_at_run_time";
  struct {
    uint32_t id, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t address, start, bytes, index;
  } load = {0,
            (uint32_t)(sizeof load + sizeof name + sizeof code),
            now(),
            (uint32_t)getpid(),
            (uint32_t)getpid(),
            (uint64_t)place,
            (uint64_t)place,
            sizeof code,
            1};
  ssize_t written = write(file, &head, sizeof head);
  written += write(file, &unwinding, sizeof unwinding);
  written += write(file, frames, sizeof frames);
  written += write(file, &load, sizeof load);
  written += write(file, name, sizeof name);
  written += write(file, code, sizeof code);
  return calls_compiled_code((long (*)(long (*)(long), long))place) == written;
}
