#include "core/ordered_pipeline.h"

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {
namespace {

struct Item {
  std::size_t in = 0;
  std::size_t out = 0;
};

// What comes out of a pipeline whose item `failing` fails in the work, and the status at the end.
struct Outcome {
  std::vector<std::size_t> retired;
  Status status;
};

template <typename Fail>
Outcome run(unsigned threads, std::size_t items, std::size_t count, const Fail& fail) {
  Outcome outcome;
  OrderedPipeline<Item> pipeline(
      threads, items,
      [&fail](unsigned, Item& item) -> Status {
        item.out = item.in * 3;
        return fail(item.in);
      },
      [&outcome](Item& item) {
        outcome.retired.push_back(item.out);
        item = {};
        return Status();
      });
  for (std::size_t i = 0; i < count && outcome.status; ++i) {
    CHECK(pipeline.filling().in == 0);
    pipeline.filling().in = i + 1;
    outcome.status = i + 1 < count ? pipeline.submit() : pipeline.finish();
  }
  if (outcome.status) {
    outcome.status = pipeline.drain();
  }
  return outcome;
}

}  // namespace

TEST_CASE("ordered pipeline: what comes out is in the order of what went in") {
  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    for (const std::size_t items : {1U, 2U, 4U, 9U}) {
      for (const std::size_t count : {0U, 1U, 2U, 9U, 200U}) {
        CAPTURE(threads);
        CAPTURE(items);
        CAPTURE(count);
        const Outcome outcome = run(threads, items, count, [](std::size_t number) {
          if (number % 50 == 0) {
            std::this_thread::yield();
          }
          return Status();
        });
        REQUIRE(outcome.status.has_value());
        REQUIRE(outcome.retired.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
          REQUIRE(outcome.retired[i] == (i + 1) * 3);
        }
      }
    }
  }
}

TEST_CASE("ordered pipeline: items can be passed on ahead of any that is retired") {
  for (const unsigned threads : {0U, 1U, 3U}) {
    CAPTURE(threads);
    std::vector<std::size_t> retired;
    OrderedPipeline<Item> pipeline(
        threads, 4,
        [](unsigned, Item& item) -> Status {
          item.out = item.in * 3;
          return {};
        },
        [&retired](Item& item) {
          retired.push_back(item.out);
          return Status();
        });
    std::size_t ahead = 0;
    for (pipeline.filling().in = 1; pipeline.submit_ahead(); pipeline.filling().in = ahead + 1) {
      ++ahead;
    }
    CHECK(ahead == 3);
    CHECK(retired.empty());
    CHECK(pipeline.submit().has_value());
    CHECK(pipeline.drain().has_value());
    CHECK(retired == std::vector<std::size_t>{3, 6, 9, 12});
  }
}

TEST_CASE("ordered pipeline: the first error wins, whichever thread is faster") {
  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    CAPTURE(threads);
    for (int round = 0; round < 50; ++round) {
      const Outcome outcome = run(threads, 6, 100, [](std::size_t number) -> Status {
        if (number == 40) {
          for (int i = 0; i < 20; ++i) {
            std::this_thread::yield();
          }
          return Error{ErrorCode::kCorrupt, number, "test"};
        }
        return number > 40 ? Status(Error{ErrorCode::kIo, number, "test"}) : Status();
      });
      REQUIRE_FALSE(outcome.status.has_value());
      REQUIRE(outcome.status.error().offset == 40);
      REQUIRE(outcome.retired.size() == 39);
      REQUIRE(outcome.retired.back() == 39 * 3);
    }
  }
}

TEST_CASE("ordered pipeline: after an error one thread works on nothing more") {
  std::atomic<std::size_t> last = 0;
  const Outcome outcome = run(1, 4, 100, [&last](std::size_t number) -> Status {
    last = number;
    return number == 10 ? Status(Error{ErrorCode::kLimit, 1, "test"}) : Status();
  });
  CHECK_FALSE(outcome.status.has_value());
  CHECK(last == 10);
}

TEST_CASE("ordered pipeline: memory that runs out on a thread is the error of the pipeline") {
  for (const unsigned threads : {0U, 1U, 3U}) {
    for (const std::size_t at : {1U, 2U, 30U}) {
      CAPTURE(threads);
      CAPTURE(at);
      const Outcome outcome = run(threads, 4, 30, [at](std::size_t number) -> Status {
        if (number == at) {
          throw std::bad_alloc();
        }
        return {};
      });
      REQUIRE_FALSE(outcome.status.has_value());
      CHECK(outcome.status.error().code == ErrorCode::kResource);
      CHECK(outcome.retired.size() == at - 1);
    }
  }
}

TEST_CASE("ordered pipeline: an error of the one who takes the items stays") {
  for (const unsigned threads : {0U, 2U}) {
    CAPTURE(threads);
    std::size_t retired = 0;
    OrderedPipeline<Item> pipeline(
        threads, 3, [](unsigned, Item&) { return Status(); },
        [&retired](Item&) {
          return ++retired == 5 ? Status(Error{ErrorCode::kIo, 7, "full"}) : Status();
        });
    Status status;
    for (std::size_t i = 0; i < 50 && status; ++i) {
      status = pipeline.submit();
    }
    REQUIRE_FALSE(status.has_value());
    CHECK(pipeline.submit().error().code == ErrorCode::kIo);
    CHECK(pipeline.drain().error().code == ErrorCode::kIo);
    CHECK(pipeline.finish().error().code == ErrorCode::kIo);
    CHECK(retired == 5);
  }
}

TEST_CASE("ordered pipeline: a single item needs no thread") {
  const std::thread::id here = std::this_thread::get_id();
  bool elsewhere = false;
  OrderedPipeline<Item> pipeline(
      2, 3,
      [&](unsigned, Item&) {
        elsewhere = std::this_thread::get_id() != here;
        return Status();
      },
      [](Item&) { return Status(); });
  REQUIRE(pipeline.finish().has_value());
  CHECK_FALSE(elsewhere);
}

}  // namespace stackpack::core
