// A load with many different, deep callstacks: threads walk a random call graph of 512 functions.
// busy SECONDS THREADS SEED. Build with frame pointers: record.sh does.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace {

constexpr std::size_t kFunctions = 512;
constexpr unsigned kMaxDepth = 60;

std::atomic<bool> stop{false};

struct Walker {
  std::uint64_t state;
  std::uint64_t request = 0;
  std::uint64_t sum = 0;

  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

using Function = void (*)(Walker&, unsigned);
extern const std::array<Function, kFunctions> kTable;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15U;
  return x ^ (x >> 29);
}

// A program does the same again for the same request: the path depends on the request, and leaves
// it now and then.
std::size_t callee(std::size_t self, unsigned depth, Walker& walker) {
  const bool stray = walker.next() % 10'000 < 3;
  const std::uint64_t request = depth < 12 ? walker.request % 16 : walker.request;
  const std::uint64_t choice = stray ? walker.next() % 4 : mix(request * 512 + depth) % 3;
  return (self * 2654435761U + choice * 40503U + 12345U) % kFunctions;
}

template <std::size_t Self>
[[gnu::noinline]] void work(Walker& walker, unsigned depth) {
  for (unsigned i = 0; i < 2 + Self % 6; ++i) {
    walker.sum += walker.next() >> 11;
  }
  const std::uint64_t dice = walker.next() % 1000;
  if (dice < 15) {
    struct stat status {};
    walker.sum += static_cast<std::uint64_t>(::stat("/proc/self/status", &status) == 0);
  }
  if (depth < kMaxDepth && dice < 985 && !stop.load(std::memory_order_relaxed)) {
    kTable[callee(Self, depth, walker)](walker, depth + 1);
    walker.sum ^= walker.state;  // no tail call
  }
  if (mix(walker.request + 77 * Self) % 12 == 0 && depth < kMaxDepth) {
    kTable[callee(Self + 7, depth, walker)](walker, depth + 1);
    walker.sum ^= walker.state;
  }
}

template <std::size_t... I>
constexpr std::array<Function, kFunctions> make_table(std::index_sequence<I...>) {
  return {&work<I>...};
}

const std::array<Function, kFunctions> kTable = make_table(std::make_index_sequence<kFunctions>());

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 4;
  const int seed = argc > 3 ? std::atoi(argv[3]) : 1;
  std::vector<std::thread> workers;
  std::atomic<std::uint64_t> total{0};
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      Walker walker{static_cast<std::uint64_t>(seed * 1000 + i + 1) * 0x9E3779B97F4A7C15U};
      while (!stop.load(std::memory_order_relaxed)) {
        const double uniform = static_cast<double>(walker.next() >> 11) * 0x1p-53;
        walker.request = static_cast<std::uint64_t>(24 * uniform * uniform * uniform);
        kTable[walker.request % 4](walker, 0);
      }
      total += walker.sum;
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  stop = true;
  for (std::thread& worker : workers) {
    worker.join();
  }
  return total == 42 ? 1 : 0;
}
