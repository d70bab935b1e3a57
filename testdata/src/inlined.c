// An image of Windows: inlined calls, one exported function. See testdata/README.md.
// clang-format off
static inline __attribute__((always_inline)) int square(int x) {
  return x > 3 ? x * 3
               : x * x + 1;
}
static inline __attribute__((always_inline)) int deep(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) {
    sum += square(i ^ x);
  }
  return sum;
}
__attribute__((noinline)) static int hidden(int x) {
  return deep(x + 1) ^ x;
}
__declspec(dllexport) int exported(int x) {
  return hidden(x) + deep(x);
}
