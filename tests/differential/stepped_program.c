// A program without a library for a machine on which it is run instruction by instruction
// (stepped_recorder.py): whoever steps it knows the callstack at each of them. Frames of many
// shapes, most of them without a frame pointer; leaves that never save their return address, calls
// by pointers, tail calls, recursion, dynamic and aligned frames, many saved registers.
#define NOINLINE __attribute__((noinline))

static volatile long sink = 0;
static unsigned state = 2463534242U;

static NOINLINE unsigned next_random(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static NOINLINE long burn(long value, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    value = value * 2862933555777941757L + i;
    asm volatile("" : "+r"(value));
  }
  return value;
}

static long visit(int depth);

static NOINLINE long run_fixed_2(int depth) {
  volatile long frame[2];
  frame[(unsigned)depth % 2] = depth;
  const long below = visit(depth - 1);
  return below + frame[(unsigned)depth % 2];
}

static NOINLINE long run_fixed_20(int depth) {
  volatile long frame[20];
  frame[(unsigned)depth % 20] = depth;
  const long below = visit(depth - 1);
  return below + frame[(unsigned)depth % 20];
}

static NOINLINE long run_dynamic(int depth) {
  const unsigned size = 24 + next_random() % 100;
  volatile char* const frame = __builtin_alloca(size);
  frame[size / 2] = (char)depth;
  const long below = visit(depth - 1);
  return below + frame[size / 2];
}

static NOINLINE long run_aligned(int depth) {
  _Alignas(64) volatile long frame[8];
  frame[depth & 7] = depth;
  const long below = visit(depth - 1);
  return below ^ frame[depth & 7];
}

static NOINLINE long call(long (*function)(int), int depth) {
  const long value = function(depth);
  return value + burn(value, 3);
}

static NOINLINE long run_pointer(int depth) {
  return call(visit, depth - 1) + 1;
}

// Its last call is a jump.
static NOINLINE long run_tail(int depth) {
  sink = sink + depth;
  return visit(depth - 1);
}

// Keeps values in the registers that a function saves for its caller.
static NOINLINE long run_saving(int depth) {
  const long a = burn(depth, 1);
  const long b = burn(a, 1);
  const long c = burn(b, 1);
  const long d = burn(c, 1);
  const double e = (double)d;
  const long below = visit(depth - 1);
  return below + a * b + c * d + (long)e;
}

static NOINLINE long visit(int depth) {
  if (depth <= 0) {
    return burn(depth, 2);
  }
  switch (next_random() % 7) {
    case 0:
      return run_fixed_2(depth) + 1;
    case 1:
      return run_fixed_20(depth) + 1;
    case 2:
      return run_dynamic(depth) + 1;
    case 3:
      return run_aligned(depth) + 1;
    case 4:
      return run_pointer(depth) + 1;
    case 5:
      return run_tail(depth);
    default:
      return run_saving(depth) + 1;
  }
}

__attribute__((noinline, used)) void run_all(void) {
  for (int i = 0; i < 1000; ++i) {
    sink = sink + visit((int)(next_random() % 14));
  }
}

// The root: its return address is undefined, as the C library's start has it.
asm(".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    ".cfi_startproc\n"
    ".cfi_undefined x30\n"
    "  mov x29, xzr\n"
    "  mov x30, xzr\n"
    "  bl run_all\n"
    "  mov x0, xzr\n"
    "  mov x8, #93\n"
    "  svc #0\n"
    ".cfi_endproc\n"
    ".size _start, . - _start\n");
