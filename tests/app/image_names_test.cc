// What a reader of symbols ended by is said as it is. The readers here end themselves.
#include "app/symbolize/image_names.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::app {

namespace {

NamingAnswer answer_of(const std::function<Status()>& work) {
  NamingTask task;
  task.addresses = {0x1000};
  task.plan = [&work] {
    ReadPlan plan;
    plan.found = "libdemo.so";
    plan.read = [&work](const symbolize::SymbolRequest& /*request*/,
                        symbolize::NameCollector& /*names*/) { return work(); };
    return plan;
  };
  Result<std::vector<NamingAnswer>> answers =
      name_all({task}, {}, [](std::size_t) { return true; });
  REQUIRE(answers);
  REQUIRE(answers->size() == 1);
  return std::move(answers->front());
}

}  // namespace

TEST_SUITE_BEGIN("app.image_names");

TEST_CASE("a reader that is killed took neither time nor memory of its own") {
  const NamingAnswer killed = answer_of([]() -> Status {
    ::raise(SIGKILL);
    return {};
  });
  CHECK(killed.failed);
  CHECK(killed.reason == "their reader was killed, by somebody or for want of memory");
}

TEST_CASE("a reader that crashes, gives up, or finds nothing") {
  const NamingAnswer crashed = answer_of([]() -> Status { std::abort(); });
  CHECK(crashed.failed);
  CHECK(crashed.reason == "its symbols make their reader crash");

  const NamingAnswer gave_up = answer_of([]() -> Status {
    return Error{ErrorCode::kCorrupt, kNoOffset, "damaged"};
  });
  CHECK(gave_up.failed);
  CHECK(gave_up.reason == "its symbols cannot be read");

  const NamingAnswer out_of_memory = answer_of([]() -> Status {
    return Error{ErrorCode::kResource, kNoOffset, "no memory"};
  });
  CHECK(out_of_memory.failed);
  CHECK(out_of_memory.reason == "its symbols take more memory than they may");

  const NamingAnswer empty = answer_of([]() -> Status { return {}; });
  CHECK_FALSE(empty.failed);
  CHECK(empty.found == "libdemo.so");
  CHECK(empty.reason == "no symbols there");
}

TEST_SUITE_END();

}  // namespace stackpack::app
