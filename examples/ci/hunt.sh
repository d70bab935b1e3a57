#!/bin/sh
# Finds planted regressions among 30 commits of a small program, by the steps of docs/ci.md: each commit is built, recorded five times
# and added to a folder of baselines; in the end `trend` says which commits changed what.
#   hunt.sh FOLDER     (with perf, a C++ compiler and stackpack; STACKPACK names another one)
set -eu
stackpack=${STACKPACK:-stackpack}
mkdir -p "$1"
cd "$1"
cat > bench.cc <<'PROGRAM'
#include <cstdint>
// The rounds are what a commit changes.
#define STEP(NAME, ROUNDS)                                      \
  __attribute__((noinline)) std::uint64_t NAME(std::uint64_t x) { \
    for (int i = 0; i < (ROUNDS); ++i) {                        \
      x ^= x << 13;                                             \
      x ^= x >> 7;                                              \
      x ^= x << 17;                                             \
    }                                                           \
    return x;                                                   \
  }
STEP(parse, PARSE)
STEP(render, RENDER)
STEP(store, 3000)
volatile std::uint64_t result;
int main() {
  std::uint64_t x = 88172645463325252;
  for (int i = 0; i < 30000; ++i) {
    x = store(render(parse(x)));
  }
  result = x;
}
PROGRAM
commit=1
while [ "$commit" -le 30 ]; do
  parse=1000
  render=1000
  if [ "$commit" -ge 12 ] && [ "$commit" -lt 26 ]; then parse=1150; fi
  if [ "$commit" -ge 21 ]; then render=1400; fi
  "${CXX:-c++}" -O2 -g -DPARSE="$parse" -DRENDER="$render" bench.cc -o bench
  for run in 1 2 3 4 5; do
    perf record -q -F 2000 -g -o run.data -- ./bench 2> /dev/null
    "$stackpack" convert run.data -o "run$run.spk" --symbolize --force --quiet
  done
  "$stackpack" baseline add base run[1-5].spk --commit "commit$commit" --quiet
  commit=$((commit + 1))
done
"$stackpack" trend base
