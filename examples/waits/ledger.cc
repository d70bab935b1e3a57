// A program whose threads wait for a lock, for docs/waits.md: four clerks post entries under the
// lock of the ledger, the auditor writes reports under it, and holds it for long. A second lock,
// of the cache, is taken as often and never held for long.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>

namespace {

using Clock = std::chrono::steady_clock;

std::mutex ledger_lock;
std::mutex cache_lock;
std::uint64_t entries = 0;
std::uint64_t cached = 0;

void work(std::chrono::microseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

__attribute__((noinline)) void fill_cache() {
  const std::scoped_lock lock(cache_lock);
  ++cached;
  work(std::chrono::microseconds(2));
}

__attribute__((noinline)) void post_entry() {
  const std::scoped_lock lock(ledger_lock);
  ++entries;
  work(std::chrono::microseconds(10));
}

__attribute__((noinline)) void write_report() {
  const std::scoped_lock lock(ledger_lock);
  work(std::chrono::milliseconds(5));
}

void run(const char* name, Clock::time_point end, void (*step)(), std::chrono::microseconds pause) {
  pthread_setname_np(pthread_self(), name);
  while (Clock::now() < end) {
    step();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

int main() {
  const auto end = Clock::now() + std::chrono::seconds(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        run, "clerk", end,
        [] {
          fill_cache();
          post_entry();
        },
        std::chrono::microseconds(200));
  }
  threads.emplace_back(run, "auditor", end, write_report, std::chrono::milliseconds(10));
  for (std::thread& thread : threads) {
    thread.join();
  }
  return entries != 0 && cached != 0 ? 0 : 1;
}
