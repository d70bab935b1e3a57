#include "core/task_line.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {
namespace {

struct Numbered : TaskLine::Task {
  std::size_t number = 0;
  std::size_t runs = 0;
};

std::unique_ptr<Numbered[]> numbered(std::size_t count) {
  auto tasks = std::make_unique<Numbered[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    tasks[i].number = i;
  }
  return tasks;
}

}  // namespace

TEST_CASE("task line: every task runs once, on one thread or another") {
  for (const unsigned threads : {0U, 1U, 3U}) {
    for (const auto if_not_begun : {TaskLine::IfNotBegun::kWait, TaskLine::IfNotBegun::kRunHere}) {
      CAPTURE(threads);
      constexpr std::size_t kTasks = 100;
      const auto tasks = numbered(kTasks);
      TaskLine line(threads, [](unsigned, TaskLine::Task& task) {
        auto& mine = static_cast<Numbered&>(task);
        ++mine.runs;
        return mine.number % 7 == 3 ? Status(Error{ErrorCode::kLimit, mine.number, "test"})
                                    : Status();
      });
      for (std::size_t i = 0; i < kTasks; ++i) {
        line.submit(tasks[i]);
      }
      // In another order than they went in.
      for (std::size_t i = kTasks; i-- > 0;) {
        const Status status = line.collect(tasks[i], if_not_begun);
        REQUIRE(tasks[i].runs == 1);
        REQUIRE(status.has_value() == (i % 7 != 3));
        if (!status) {
          REQUIRE(status.error().offset == i);
        }
      }
    }
  }
}

TEST_CASE("task line: an idle thread sleeps on until enough tasks wait, and none is lost") {
  constexpr std::size_t kWakeAt = 3;
  constexpr std::size_t kMostTries = 200;
  const auto tasks = numbered(kWakeAt);
  const auto run = [](unsigned, TaskLine::Task& task) {
    ++static_cast<Numbered&>(task).runs;
    return Status();
  };
  TaskLine line(1, run, 0, kWakeAt);
  bool left_alone = false;  // not where the thread was still awake
  std::size_t tries = 0;
  for (; tries < kMostTries && !left_alone; ++tries) {
    line.submit(tasks[0]);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    left_alone = !line.is_done(tasks[0]);
    line.submit(tasks[1]);
    line.submit(tasks[2]);
    while (left_alone && !line.is_done(tasks[0])) {  // three wait: it wakes
      std::this_thread::yield();
    }
    for (std::size_t i = 0; i < kWakeAt; ++i) {
      REQUIRE(line.collect(tasks[i], TaskLine::IfNotBegun::kRunHere));
    }
  }
  CHECK(left_alone);
  for (std::size_t i = 0; i < kWakeAt; ++i) {
    REQUIRE(tasks[i].runs == tries);
  }
}

TEST_CASE("task line: one thread keeps the order") {
  const auto tasks = numbered(50);
  std::vector<std::size_t> order;
  TaskLine line(1, [&order](unsigned, TaskLine::Task& task) {
    order.push_back(static_cast<Numbered&>(task).number);
    return Status();
  });
  for (std::size_t i = 0; i < 50; ++i) {
    line.submit(tasks[i]);
  }
  REQUIRE(line.collect(tasks[49]).has_value());
  REQUIRE(order.size() == 50);
  for (std::size_t i = 0; i < 50; ++i) {
    CHECK(order[i] == i);
  }
}

TEST_CASE("task line: no two threads work as the same worker") {
  constexpr unsigned kThreads = 3;
  std::atomic<int> busy[kThreads] = {};
  std::atomic<bool> shared = false;
  const auto tasks = numbered(300);
  TaskLine line(kThreads, [&](unsigned worker, TaskLine::Task&) {
    shared = shared || worker >= kThreads || busy[worker]++ != 0;
    std::this_thread::yield();
    --busy[worker];
    return Status();
  });
  for (std::size_t i = 0; i < 300; ++i) {
    line.submit(tasks[i]);
  }
  for (std::size_t i = 0; i < 300; ++i) {
    REQUIRE(line.collect(tasks[i]).has_value());
  }
  CHECK_FALSE(shared);
}

TEST_CASE("task line: an exception of a task becomes its error, and the next one runs") {
  for (const unsigned threads : {0U, 1U}) {
    CAPTURE(threads);
    const auto tasks = numbered(2);
    TaskLine line(threads, [](unsigned, TaskLine::Task& task) -> Status {
      if (static_cast<Numbered&>(task).number == 0) {
        throw std::bad_alloc();
      }
      return {};
    });
    line.submit(tasks[0]);
    line.submit(tasks[1]);
    const Status failed = line.collect(tasks[0]);
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().code == ErrorCode::kResource);
    CHECK(line.collect(tasks[1]).has_value());
  }
}

TEST_CASE("task line: no task is begun while too much is not collected") {
  const auto tasks = numbered(4);
  std::atomic<int> runs = 0;
  TaskLine line(
      1,
      [&runs](unsigned, TaskLine::Task& task) {
        task.set_weight(10);
        ++runs;
        return Status();
      },
      20);
  for (std::size_t i = 0; i < 4; ++i) {
    line.submit(tasks[i]);
  }
  while (!line.is_done(tasks[1])) {
    std::this_thread::yield();
  }
  CHECK(runs == 2);
  CHECK_FALSE(line.is_done(tasks[2]));
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(line.collect(tasks[i], TaskLine::IfNotBegun::kRunHere).has_value());
  }
  CHECK(runs == 4);
}

TEST_CASE("task line: its end forgets tasks that were not begun") {
  const auto tasks = numbered(3);
  std::atomic<bool> go_on = false;
  std::atomic<int> runs = 0;
  std::thread opener;
  {
    TaskLine line(1, [&](unsigned, TaskLine::Task&) {
      ++runs;
      while (!go_on) {
        std::this_thread::yield();
      }
      return Status();
    });
    for (std::size_t i = 0; i < 3; ++i) {
      line.submit(tasks[i]);
    }
    while (runs == 0) {
      std::this_thread::yield();
    }
    opener = std::thread([&go_on] { go_on = true; });
    opener.join();
  }
  CHECK(runs >= 1);
}

}  // namespace stackpack::core
