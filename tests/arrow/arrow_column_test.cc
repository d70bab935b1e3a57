#include "arrow/arrow_column.h"

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "arrow/arrow_batch.h"
#include "arrow/arrow_stream.h"
#include "support/arrow_reading.h"
#include "support/random_stacks.h"

namespace stackpack::test {
namespace {

using arrow::Batch;
using arrow::BatchSource;
using arrow::ColumnType;
using arrow::Field;
using arrow::Projection;

constexpr std::array<Field, 7> kEveryType{{
    {"truth", ColumnType::kBool, true},
    {"small", ColumnType::kUInt8, true},
    {"number", ColumnType::kUInt32, true},
    {"large", ColumnType::kUInt64, true, "ns"},
    {"signed", ColumnType::kInt64, true},
    {"text", ColumnType::kText, true},
    {"repeated", ColumnType::kDictionary, true},
}};

Projection all_columns() {
  auto projection = Projection::create(kEveryType, {});
  REQUIRE(projection.has_value());
  return std::move(*projection);
}

// A stream of the batches that `next` fills.
void stream_of(std::function<Status(Batch&)> next, OwnedStream& out) {
  arrow::make_stream({"every", all_columns(), std::move(next)}, &out.stream);
}

TEST_SUITE("arrow column") {
  TEST_CASE("arrow column: values and nulls of every type come back") {
    Random random(1);
    const std::size_t rows = 1000;
    std::vector<std::vector<Cell>> expected(kEveryType.size());
    OwnedStream out;
    bool done = false;
    stream_of(
        [&](Batch& batch) -> Status {
          for (std::size_t row = 0; row < rows && !done; ++row) {
            for (std::size_t field = 0; field < kEveryType.size(); ++field) {
              // Some columns have a null early, some late, so that validity begins in the middle.
              if (random.below(97) == 0) {
                batch.put_null(field);
                expected[field].push_back(std::nullopt);
                continue;
              }
              const std::uint64_t value = random.below(200);
              if (field == 0) {
                batch.put_bool(field, value % 2 == 0);
                expected[field].push_back(value % 2 == 0 ? "true" : "false");
              } else if (field < 5) {
                batch.put_number(field, value);
                expected[field].push_back(std::to_string(value));
              } else {
                const std::string text(value % 7, static_cast<char>('a' + value % 26));
                batch.put_text(field, text);
                expected[field].push_back(text);
              }
            }
            batch.end_row();
          }
          done = true;
          return {};
        },
        out);
    const ArrowContent content = read_arrow(out.stream);
    CHECK(content.error.empty());
    for (std::size_t field = 0; field < kEveryType.size(); ++field) {
      CHECK(content.columns.at(std::string(kEveryType[field].name)) == expected[field]);
    }
  }

  TEST_CASE("arrow column: many numbers at once, with nulls at any place") {
    for (const std::size_t before : {0U, 1U, 7U, 8U, 9U}) {
      arrow::Column column(ColumnType::kUInt32);
      const std::optional<std::uint32_t> null = 3;
      const auto add = [&column, &null](std::size_t count, const auto& value) {
        auto* const numbers = column.begin_numbers<std::uint32_t>(count);
        for (std::size_t i = 0; i < count; ++i) {
          numbers[i] = value(i);
        }
        column.end_numbers(numbers, count, null);
      };
      add(before, [](std::size_t) { return 1U; });
      add(20, [](std::size_t i) { return static_cast<unsigned>(i % 5); });
      ArrowArray array{};
      column.move_to(&array);
      CHECK(array.length == static_cast<std::int64_t>(before + 20));
      CHECK(array.null_count == 4);
      for (std::size_t i = 0; i < 20; ++i) {
        CHECK(arrow_bit(array.buffers[0], static_cast<std::int64_t>(before + i)) == (i % 5 != 3));
      }
      for (std::size_t i = 0; i < before; ++i) {
        CHECK(arrow_bit(array.buffers[0], static_cast<std::int64_t>(i)));
      }
      array.release(&array);
      CHECK((array.release == nullptr));
    }
  }

  TEST_CASE("arrow column: children outlive a batch that they were taken out of") {
    OwnedStream out;
    int calls = 0;
    stream_of(
        [&](Batch& batch) -> Status {
          if (calls++ == 0) {
            for (std::size_t field = 1; field < 5; ++field) {
              batch.put_number(field, 40 + field);
            }
            batch.put_bool(0, true);
            batch.put_text(5, "plain");
            batch.put_text(6, "numbered");
            batch.end_row();
          }
          return {};
        },
        out);
    ArrowArray batch{};
    REQUIRE(out.stream.get_next(&out.stream, &batch) == 0);
    ArrowArray taken = *batch.children[6];
    batch.children[6]->release = nullptr;
    batch.release(&batch);
    CHECK(arrow_text(*taken.dictionary, 0) == "numbered");
    taken.release(&taken);
  }

  TEST_CASE("arrow column: an error of a stream stays, and has a text") {
    OwnedStream out;
    int calls = 0;
    stream_of(
        [&](Batch&) -> Status {
          ++calls;
          return Error{ErrorCode::kCorrupt, 17, "spk: something"};
        },
        out);
    for (int i = 0; i < 2; ++i) {
      ArrowArray batch{};
      CHECK(out.stream.get_next(&out.stream, &batch) == EIO);
      CHECK((batch.release == nullptr));
      CHECK(std::string(out.stream.get_last_error(&out.stream)) == "offset 17: spk: something");
    }
    CHECK(calls == 1);
  }

  TEST_CASE("arrow column: the columns asked for, in their order") {
    const std::vector<std::string> wanted{"text", "truth"};
    const auto projection = Projection::create(kEveryType, wanted);
    REQUIRE(projection.has_value());
    CHECK(projection->fields()[0].name == "text");
    CHECK(projection->place(0) == 1);
    CHECK(!projection->wants(2));
    const std::vector<std::string> unknown{"text", "nothing"};
    CHECK(Projection::create(kEveryType, unknown).error().code == ErrorCode::kUsage);
    const std::vector<std::string> twice{"text", "text"};
    CHECK(Projection::create(kEveryType, twice).error().code == ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace stackpack::test
