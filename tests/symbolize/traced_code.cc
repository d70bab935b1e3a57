#include "symbolize/traced_code.h"

namespace stackpack::test {

namespace {

volatile int sink = 0;

__attribute__((always_inline)) inline void traced_inner(int value) {
  sink = value;  // line 10
}

__attribute__((always_inline)) inline void traced_middle(int value) {
  traced_inner(value + 1);  // line 14
  sink = value;             // line 15
}

}  // namespace

__attribute__((noinline)) int traced_outer(int value) {
  sink = value;          // line 21
  traced_middle(value);  // line 22
  return sink;
}

}  // namespace stackpack::test

namespace stackpack::test {

namespace {

// Inlined everywhere, but a class within has code of its own.
__attribute__((always_inline)) inline TracedCode traced_host() {
  struct Local {
    __attribute__((noinline)) static int run(int value) {
      traced_inner(value);
      return sink;
    }
  };
  return &Local::run;
}

}  // namespace

TracedCode traced_local() {
  return traced_host();
}

}  // namespace stackpack::test

extern "C" void stackpack_traced_reference() {}
