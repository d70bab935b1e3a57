// A load whose functions have known shares of the time: planted MILLISECONDS [FUNCTION GROWTH].
//
// plant_20, plant_5, plant_1 and plant_02 are busy loops of 20, 5, 1 and 0.2 % of the work; the
// rest is spread over 40 functions of unlike sizes. FUNCTION takes GROWTH percent points more. The
// order of the work is random from turn to turn, as that of requests is.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

volatile std::uint64_t sink = 0;

[[gnu::always_inline]] inline void spin(std::uint64_t steps) {
  std::uint64_t x = sink + 88172645463325252ULL;
  for (std::uint64_t i = 0; i < steps; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink = x & 1;
}

constexpr std::size_t kOthers = 40;

template <std::size_t I>
[[gnu::noinline]] void other(std::uint64_t steps) {
  spin(steps);
}

using Function = void (*)(std::uint64_t);

template <std::size_t... I>
constexpr std::array<Function, sizeof...(I)> make_table(std::index_sequence<I...>) {
  return {&other<I>...};
}
constexpr std::array<Function, kOthers> kTable = make_table(std::make_index_sequence<kOthers>());

}  // namespace

extern "C" {
[[gnu::noinline]] void plant_20(std::uint64_t steps) {
  spin(steps);
}
[[gnu::noinline]] void plant_5(std::uint64_t steps) {
  spin(steps);
}
[[gnu::noinline]] void plant_1(std::uint64_t steps) {
  spin(steps);
}
[[gnu::noinline]] void plant_02(std::uint64_t steps) {
  spin(steps);
}
}

int main(int argc, char** argv) {
  const int milliseconds = argc > 1 ? std::atoi(argv[1]) : 500;
  const char* const grown = argc > 3 ? argv[2] : "";
  const double growth = argc > 3 ? std::atof(argv[3]) / 100 : 0;
  struct Plant {
    const char* name;
    Function function;
    double share;
  };
  const std::array<Plant, 4> plants = {{{"plant_20", &plant_20, 0.20},
                                        {"plant_5", &plant_5, 0.05},
                                        {"plant_1", &plant_1, 0.01},
                                        {"plant_02", &plant_02, 0.002}}};
  // What a turn does, in steps. A function that takes `growth` more of the whole takes the time of
  // share + growth where the others keep theirs in proportion.
  constexpr double kTurn = 200'000;
  struct Work {
    Function function;
    double steps;
  };
  std::array<Work, plants.size() + kOthers> work{};
  double left = 1;
  double known = 0;
  for (std::size_t i = 0; i < plants.size(); ++i) {
    const bool grows = std::strcmp(plants[i].name, grown) == 0;
    work[i] = {plants[i].function, plants[i].share};
    known += plants[i].share;
    if (grows) {
      left = (1 - plants[i].share - growth) / (1 - plants[i].share);
    }
  }
  double weights = 0;
  for (std::size_t i = 0; i < kOthers; ++i) {
    weights += 1.0 / static_cast<double>(i + 1);
  }
  for (std::size_t i = 0; i < kOthers; ++i) {
    work[plants.size() + i] = {kTable[i], (1 - known) / weights / static_cast<double>(i + 1)};
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    const bool grows = i < plants.size() && std::strcmp(plants[i].name, grown) == 0;
    work[i].steps = (grows ? work[i].steps + growth : work[i].steps * left) * kTurn;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  std::uint64_t random = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) | 1;
  while (Clock::now() < end) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      const Work& chosen = work[(random >> 33) % work.size()];
      chosen.function(static_cast<std::uint64_t>(chosen.steps));
    }
  }
  return 0;
}
