// Names of Microsoft's compiler: namespaces, overloads, templates, operators. No name is said in
// debug information: the PDB has public symbols alone.
namespace shapes {

template <typename Number, int kSides>
struct Polygon {
  Number lengths[kSides];
  __attribute__((noinline)) Number around() const {
    Number sum = 0;
    for (int i = 0; i < kSides; ++i) {
      sum += lengths[i] * (i + 1);
    }
    return sum;
  }
};

__attribute__((noinline)) bool operator<(const Polygon<int, 3>& one, const Polygon<int, 3>& other) {
  return one.around() < other.around();
}

__attribute__((noinline)) double scale(double value, int by) {
  return value * by - 1;
}

__attribute__((noinline)) int scale(int value, int by) {
  return value * by + 7;
}

}  // namespace shapes

extern "C" int _fltused = 0;

template <typename Call>
__attribute__((noinline)) int repeat(const Call& call, int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    sum += call(i);
  }
  return sum;
}

extern "C" __declspec(dllexport) int entry(int count) {
  volatile int start = count;
  const shapes::Polygon<int, 3> triangle = {{start, start, start}};
  const shapes::Polygon<int, 3> other = {{1, start, 3}};
  const shapes::Polygon<double, 4> square = {{1.0, 2.0, 3.0, start * 1.0}};
  const auto add = [&](int i) __attribute__((noinline)) {
    return shapes::scale(i, start);
  };
  return repeat(add, count) + (triangle < other ? 1 : 2) +
         static_cast<int>(shapes::scale(square.around(), 3));
}
