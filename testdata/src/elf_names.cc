// clang-format off
namespace app {
template <int kTimes>
struct Counter {
  int sum = 0;
  __attribute__((always_inline)) void add(int x) { sum += x > 3 ? x * kTimes : x + kTimes; }
  __attribute__((noinline)) int twice(int x) {
    add(x);
    add(x + 1);
    return sum;
  }
};
namespace {
__attribute__((always_inline)) inline int deep(int x) {
  Counter<3> counter;
  for (int i = 0; i < x; ++i) {
    counter.add(i ^ x);
  }
  return counter.sum;
}
__attribute__((noinline)) int hidden(int x) { return deep(x + 1) ^ x; }
}  // namespace
__attribute__((noinline)) int seen(const char* text, int x) {
  const auto local = [&](int y) __attribute__((noinline)) { return deep(y) + text[0]; };
  return hidden(x) + local(x) + Counter<5>{}.twice(x);
}
}  // namespace app
extern "C" int entry(int x) { return app::seen("x", x) + app::Counter<3>{}.twice(x); }
extern "C" __attribute__((section(".text.unlikely"))) int unlikely(int x) { return entry(x) * 7; }
// An ELF file with debug information of several versions: inlined calls, templates, namespaces, local
// functions. Its lines are asked for by number: it is not formatted.
