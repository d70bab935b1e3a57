// Functions whose names differ from build to build: a lambda that is numbered anew, a part that the
// compiler moves out as .cold, a function that it specializes as .constprop.
//   renamed TURNS
// Built with -DCHANGED a lambda is added before the others, a short one, and each of the three
// takes twice as long.
#include <cstdint>
#include <cstdlib>

namespace {

volatile std::uint64_t kept = 1;

constexpr std::uint64_t kUnit = 4'000;
#ifdef CHANGED
constexpr std::uint64_t kPart = 2 * kUnit;
#else
constexpr std::uint64_t kPart = kUnit;
#endif

[[gnu::noinline]] void rest(std::uint64_t turns) {
  std::uint64_t sum = kept;
  for (std::uint64_t i = 0; i < turns; ++i) {
    sum = sum * 25 + i;
  }
  kept = sum;
}

[[gnu::noinline]] void specialized(std::uint64_t turns, std::uint64_t factor) {
  std::uint64_t sum = kept;
  for (std::uint64_t i = 0; i < turns; ++i) {
    sum = sum * factor + (i ^ factor);
  }
  kept = sum;
}

// What leads to a call of it is unlikely.
[[gnu::noinline, gnu::cold]] void note(std::uint64_t sum) {
  kept = sum;
}

[[gnu::noinline]] void partly_cold(std::uint64_t turns, bool often) {
  if (!often) {
    std::uint64_t sum = kept;
    for (std::uint64_t i = 0; i < turns; ++i) {
      sum = sum * 29 + i;
    }
    note(sum);
    return;
  }
  kept = kept + turns;
}

void turn() {
#ifdef CHANGED
  // Takes the number of the old one, which becomes the second.
  const auto first = [](std::uint64_t turns) __attribute__((noinline)) {
    std::uint64_t sum = kept;
    for (std::uint64_t i = 0; i < turns; ++i) {
      sum = sum * 33 + i;
    }
    kept = sum;
  };
  first(kUnit / 4);
#endif
  const auto numbered = [](std::uint64_t turns) __attribute__((noinline)) {
    std::uint64_t sum = kept;
    for (std::uint64_t i = 0; i < turns; ++i) {
      sum = sum * 31 + i;
    }
    kept = sum;
  };
  numbered(kPart);
  specialized(kPart, 27);
  partly_cold(kPart, kept == 0);
  rest(10 * kUnit);
}

}  // namespace

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 10'000;
  for (int i = 0; i < turns; ++i) {
    turn();
  }
}
