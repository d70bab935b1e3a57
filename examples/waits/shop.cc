// A small server with a slow part behind it, for docs/waits.md: `shop` answers the orders of
// `customer`. It asks `stock` each time, and every tenth time `prices`, which writes its list to
// the disk first.
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using Pair = std::array<int, 2>;
using Clock = std::chrono::steady_clock;

Pair connect_pair() {
  Pair ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) != 0) {
    _exit(1);
  }
  return ends;
}

void work(std::chrono::microseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

__attribute__((noinline)) std::uint32_t ask(int socket, std::uint32_t order) {
  send(socket, &order, sizeof order, 0);
  std::uint32_t answer = 0;
  recv(socket, &answer, sizeof answer, 0);
  return answer;
}

__attribute__((noinline)) void write_prices(std::uint32_t order) {
  const int file = open("prices", O_CREAT | O_WRONLY, 0600);
  const std::string text(8 << 20, static_cast<char>('a' + order % 26));
  if (pwrite(file, text.data(), text.size(), 0) > 0) {
    fsync(file);
  }
  close(file);
}

__attribute__((noinline)) std::uint32_t find_stock(std::uint32_t order) {
  work(std::chrono::microseconds(100));
  return order;
}

__attribute__((noinline)) std::uint32_t find_price(std::uint32_t order) {
  write_prices(order);
  return order;
}

void serve(const char* name, int socket, std::uint32_t (*answer)(std::uint32_t)) {
  pthread_setname_np(pthread_self(), name);
  for (std::uint32_t order = 0; recv(socket, &order, sizeof order, 0) > 0;) {
    const std::uint32_t found = answer(order);
    send(socket, &found, sizeof found, 0);
  }
}

__attribute__((noinline)) void handle_order(std::uint32_t order, int stock, int prices) {
  work(std::chrono::microseconds(50));
  ask(stock, order);
  if (order % 10 == 0) {
    ask(prices, order);
  }
  work(std::chrono::microseconds(50));
}

void run_shop(int client, int stock, int prices) {
  pthread_setname_np(pthread_self(), "shop");
  for (std::uint32_t order = 0; recv(client, &order, sizeof order, 0) > 0;) {
    handle_order(order, stock, prices);
    send(client, &order, sizeof order, 0);
  }
}

}  // namespace

int main() {
  const Pair client = connect_pair();
  const Pair stock = connect_pair();
  const Pair prices = connect_pair();
  std::vector<std::thread> threads;
  threads.emplace_back(serve, "stock", stock[1], find_stock);
  threads.emplace_back(serve, "prices", prices[1], find_price);
  threads.emplace_back(run_shop, client[1], stock[0], prices[0]);
  pthread_setname_np(pthread_self(), "customer");
  for (std::uint32_t order = 1; order <= 300; ++order) {
    ask(client[0], order);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const int end : {client[0], stock[0], prices[0]}) {
    shutdown(end, SHUT_RDWR);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}
