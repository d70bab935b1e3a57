#include "app/listing/thread_names.h"

#include <doctest/doctest.h>

namespace stackpack::app {

TEST_CASE("app.thread_names: a name belongs to a life, not to a number") {
  const auto process = [](std::uint32_t pid, std::uint64_t start, const char* name) {
    Process row;
    row.pid = pid;
    row.start_ns = start;
    row.name = name;
    return row;
  };
  const auto thread = [](std::uint32_t pid, std::uint32_t tid, std::uint64_t start,
                         const char* name) {
    Thread row;
    row.pid = pid;
    row.tid = tid;
    row.start_ns = start;
    row.name = name;
    return row;
  };
  const std::vector<Process> processes = {process(7, 500, "second"),
                                          process(7, kUnknownTime, "first")};
  const std::vector<Thread> threads = {thread(7, 8, 100, "worker"), thread(7, 8, 600, ""),
                                       thread(9, 8, kUnknownTime, "other")};
  const ThreadNames names(processes, threads);
  struct Case {
    const char* name;
    std::uint32_t pid;
    std::uint32_t tid;
    std::uint64_t time;
    const char* expected;
  };
  const Case cases[] = {
      {"alive before the capture", 7, 7, 0, "first"},
      {"up to the next use of the pid", 7, 7, 499, "first"},
      {"from its start on", 7, 7, 500, "second"},
      {"before the thread was named: its process", 7, 8, 99, "first"},
      {"the thread's own name", 7, 8, 100, "worker"},
      {"a life without a name: its process", 7, 8, 700, "second"},
      {"one tid in two processes", 9, 8, 100, "other"},
      {"an unknown process", 10, 8, 100, ""},
      {"a thread of an unknown process", 9, 1, 100, ""},
      {"ids that were not recorded", kUnknownId, kUnknownId, 100, ""},
  };
  for (const Case& test : cases) {
    CAPTURE(test.name);
    CHECK(names.name(test.pid, test.tid, test.time) == test.expected);
  }
}

}  // namespace stackpack::app
