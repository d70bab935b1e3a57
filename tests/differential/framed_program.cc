// A program without a library, in which every function keeps a frame pointer: what a walk by frame
// pointers finds is exact but for prologues and epilogues. Frames of many shapes, recursion,
// dynamic frames, calls by pointers, and a signal handler that a timer calls in the middle of
// anything. Runs for about a second.
namespace {

using Word = unsigned long;

long call_system(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  long result = 0;
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
}

volatile long sink = 0;
unsigned state = 2463534242U;

[[gnu::noinline]] unsigned next_random() {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

[[gnu::noinline]] long burn(long value, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    value = value * 2862933555777941757L + i;
    asm volatile("" : "+r"(value));
  }
  return value;
}

long visit(int depth);

template <int kWords>
struct Fixed {
  [[gnu::noinline]] static long run(int depth) {
    volatile long frame[kWords];
    for (int i = 0; i < kWords; ++i) {
      frame[i] = i ^ depth;
    }
    const long below = visit(depth - 1);
    return below + frame[static_cast<unsigned>(depth) % kWords];
  }
};

[[gnu::noinline]] long run_dynamic(int depth) {
  const unsigned size = 24 + next_random() % 600;
  auto* const frame = static_cast<volatile char*>(__builtin_alloca(size));
  for (unsigned i = 0; i < size; i += 5) {
    frame[i] = static_cast<char>(i);
  }
  const long below = visit(depth - 1);
  return below + frame[0];
}

[[gnu::noinline]] long run_aligned(int depth) {
  alignas(64) volatile long frame[16];
  for (int i = 0; i < 16; ++i) {
    frame[i] = depth + i;
  }
  const long below = visit(depth - 1);
  return below ^ frame[depth & 15];
}

[[gnu::noinline]] long call(long (*function)(int), int depth) {
  const long value = function(depth);
  return value + burn(value, 3);
}

[[gnu::noinline]] long run_pointer(int depth) {
  return call(visit, depth - 1) + 1;
}

[[gnu::noinline]] long sort_words(long* words, long count) {
  if (count < 2) {
    return count;
  }
  const long middle = words[count / 2];
  long low = 0;
  long high = count - 1;
  for (;; ++low, --high) {
    while (words[low] < middle) {
      ++low;
    }
    while (words[high] > middle) {
      --high;
    }
    if (low >= high) {
      break;
    }
    const long swapped = words[low];
    words[low] = words[high];
    words[high] = swapped;
  }
  return sort_words(words, low) + sort_words(words + low, count - low) + 1;
}

[[gnu::noinline]] long run_sort(int depth) {
  long words[48];
  for (long& word : words) {
    word = next_random();
  }
  return sort_words(words, 48) + visit(depth - 2);
}

using Run = long (*)(int);
constexpr Run kRuns[8] = {Fixed<1>::run, Fixed<7>::run, Fixed<30>::run, Fixed<90>::run,
                          run_dynamic,   run_aligned,   run_pointer,    run_sort};

[[gnu::noinline]] long visit(int depth) {
  if (depth <= 0) {
    return burn(depth, 80);
  }
  return kRuns[next_random() & 7](depth) + 1;
}

[[gnu::noinline]] void in_handler(int depth) {
  sink = burn(depth, 2000);
  if (depth > 0) {
    in_handler(depth - 1);
    sink = sink + 1;
  }
}

void on_signal(int) {
  in_handler(4);
}

struct KernelAction {
  void (*handler)(int);
  Word flags;
  void (*restorer)();
  Word mask;
};

}  // namespace

extern "C" void restore_registers();
// What the C library has for returning from a handler, with the offsets of the kernel's ucontext.
asm(R"(
  .text
  .cfi_startproc simple
  .cfi_signal_frame
  .cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6
  .cfi_escape 0x10, 3, 3, 0x77, 0x80, 1
  .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0
  .cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1
  .cfi_escape 0x10, 12, 3, 0x77, 0xc8, 0
  .cfi_escape 0x10, 13, 3, 0x77, 0xd0, 0
  .cfi_escape 0x10, 14, 3, 0x77, 0xd8, 0
  .cfi_escape 0x10, 15, 3, 0x77, 0xe0, 0
  .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1
  nop
  .globl restore_registers
  .type restore_registers, @function
restore_registers:
  mov $15, %eax
  syscall
  .cfi_endproc
  .size restore_registers, . - restore_registers

  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined rip
  xor %ebp, %ebp
  and $-16, %rsp
  call run_program
  hlt
  .cfi_endproc
  .size _start, . - _start
)");

extern "C" [[gnu::noinline]] void run_program() {
  constexpr Word kRestorer = 0x04000000;
  const KernelAction action{on_signal, kRestorer, restore_registers, 0};
  call_system(13, 14, reinterpret_cast<long>(&action), 0, 8);  // rt_sigaction(SIGALRM)
  const long timer[4] = {0, 800, 0, 800};
  call_system(38, 0, reinterpret_cast<long>(timer));  // setitimer(ITIMER_REAL)
  long begin[2];
  long now[2];
  call_system(228, 1, reinterpret_cast<long>(begin));  // clock_gettime(CLOCK_MONOTONIC)
  do {
    for (int i = 0; i < 40; ++i) {
      sink = visit(2 + static_cast<int>(next_random() % 45));
    }
    call_system(228, 1, reinterpret_cast<long>(now));
  } while ((now[0] - begin[0]) * 1000000000 + now[1] - begin[1] < 1000000000);
  call_system(60, 0);
  __builtin_unreachable();
}
