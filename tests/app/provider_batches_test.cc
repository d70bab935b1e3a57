#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/arrow/batch_producer.h"
#include "app/convert/provider_events.h"
#include "stackpack/arrow.h"
#include "support/arrow_reading.h"
#include "support/file_bytes.h"
#include "support/nettrace_writer.h"
#include "support/source_folder.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

std::string capture_path(const std::string& name) {
  return source_folder() + "/testdata/" + name;
}

ArrowContent read_events(const std::string& path, const ProviderEventOptions& options = {}) {
  OwnedStream out;
  const Status made = stream_provider_events(path, {}, options, &out.stream);
  REQUIRE_MESSAGE(made.has_value(), failure(made));
  return read_arrow(out.stream);
}

std::string id_text(std::uint32_t id) {
  return id == kUnknownId ? "null" : std::to_string(id);
}

// EVENT TIME PID TID PROVIDER NAME FIELD POSITION VALUE of each row, as the events themselves give
// them.
std::vector<std::string> listed_rows(const std::string& path, const std::string& pattern) {
  std::vector<std::string> rows;
  auto events = app::ProviderEvents::open(path, {});
  REQUIRE(events.has_value());
  std::uint64_t number = 0;
  const auto counts = events->visit(pattern, {}, [&](const app::ProviderEvent& event) -> Status {
    const std::string head = std::to_string(number++) + " " + std::to_string(event.time_ns) + " " +
                             id_text(event.pid) + " " + id_text(event.tid) + " " +
                             std::string(event.provider) + " " + std::string(event.name) + " ";
    if (event.fields.empty()) {
      rows.push_back(head + "null null null");
    }
    for (const capture::DecodedField& field : event.fields) {
      const std::string name = head + field.name + " ";
      if (field.values.empty()) {
        rows.push_back(name + (field.is_list ? "0 null" : "null null"));
      }
      for (std::size_t i = 0; i < field.values.size(); ++i) {
        std::string text = name + (field.is_list ? std::to_string(i) : "null") + " ";
        app::append_payload_value(text, field.values[i]);
        rows.push_back(text);
      }
    }
    return {};
  });
  REQUIRE(counts.has_value());
  CHECK(counts->events == number);
  return rows;
}

std::vector<std::string> table_rows(const ArrowContent& table) {
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::string text;
    for (const char* column :
         {"event", "time_ns", "pid", "tid", "provider", "name", "field", "position", "text"}) {
      text += (text.empty() ? "" : " ") + table.at(column, row);
    }
    rows.push_back(text);
  }
  return rows;
}

// Two events of "My-Source" with a field of each type.
std::vector<std::byte> described_trace() {
  struct Described {
    const char* name;
    std::vector<std::uint8_t> type;  // codes of the format
  };
  TestBytes about;
  put_varint(about, 1);
  put_utf8(about, "My-Source");
  put_varint(about, 5);
  put_utf8(about, "Job").u16(6);
  for (const auto& [name, type] :
       {Described{"flag", {3}}, Described{"small", {9}}, Described{"large", {12}},
        Described{"ratio", {14}}, Described{"name", {18}}, Described{"list", {19, 7}}}) {
    TestBytes field;
    put_utf8(field, name);
    for (const std::uint8_t code : type) {
      field.u8(code);
    }
    about.u16(static_cast<std::uint16_t>(field.bytes.size())).append(field.bytes);
  }
  about.u16(0);
  TestBytes metadata;
  metadata.u16(0).u16(static_cast<std::uint16_t>(about.bytes.size())).append(about.bytes);
  NettraceWriter out(6, 8, 1'000'000'000);
  out.block(3, metadata.bytes);
  out.thread(7, 4321, 70);
  TestBytes full;
  full.u32(1)
      .u32(static_cast<std::uint32_t>(-5))
      .u64(~std::uint64_t{0})
      .u64(std::bit_cast<std::uint64_t>(0.5));
  put_utf16(full, "a/b").u16(2).u16(7).u16(static_cast<std::uint16_t>(-8));
  TestBytes empty;
  empty.u32(0).u32(0).u64(9).u64(0).u16(0).u16(0);
  std::vector<NettraceEvent> events(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    events[i].metadata = 1;
    events[i].capture_thread = events[i].thread = 7;
    events[i].number = i + 1;
    events[i].ticks = 1000 * (i + 1);
    events[i].payload = i == 0 ? full.bytes : empty.bytes;
  }
  out.events(events);
  return out.finish();
}

TEST_SUITE("provider batches") {
  TEST_CASE("provider batches: the rows are what the events say") {
    for (const char* name : {"small.nettrace", "small.v6.nettrace", "sampled.x64.etl"}) {
      CAPTURE(name);
      const std::vector<std::string> expected = listed_rows(capture_path(name), "*");
      CHECK(!expected.empty());
      for (const std::uint32_t rows : {1U, 7U, 65'536U}) {
        ProviderEventOptions options;
        options.table.batch_rows = rows;
        const ArrowContent table = read_events(capture_path(name), options);
        CHECK(table.error.empty());
        CHECK(table_rows(table) == expected);
        CHECK(*std::max_element(table.batches.begin(), table.batches.end()) <= rows);
      }
    }
  }

  TEST_CASE("provider batches: values are in the columns of their types") {
    const ScratchDirectory folder;
    const std::string path = folder.file("described.nettrace");
    write_file(path, described_trace());
    const ArrowContent table = read_events(path);
    std::vector<std::string> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::string text;
      for (const char* column : {"event", "field", "position", "type", "number", "real", "text"}) {
        text += (text.empty() ? "" : " ") + table.at(column, row);
      }
      rows.push_back(text);
    }
    CHECK(rows == std::vector<std::string>{
                      "0 flag null bool 1 null true", "0 small null signed -5 null -5",
                      "0 large null unsigned null null 18446744073709551615",
                      "0 ratio null real null 0.500000 0.5", "0 name null text null null a/b",
                      "0 list 0 signed 7 null 7", "0 list 1 signed -8 null -8",
                      "1 flag null bool 0 null false", "1 small null signed 0 null 0",
                      "1 large null unsigned 9 null 9", "1 ratio null real null 0.000000 0",
                      "1 name null text null null ",
                      "1 list 0 null null null null",  // an empty list
                  });
    CHECK(table_rows(table) == listed_rows(path, "*"));
  }

  TEST_CASE("provider batches: providers, columns and times are chosen") {
    const std::string path = capture_path("small.nettrace");
    const ArrowContent all = read_events(path);
    ProviderEventOptions options;
    options.providers = "Microsoft-DotNETCore-*";
    options.table.columns = {"name", "time_ns"};
    const ArrowContent some = read_events(path, options);
    CHECK(some.names == std::vector<std::string>{"name", "time_ns"});
    CHECK(some.rows() > 0);
    CHECK(some.rows() < all.rows());
    options.providers = "*";
    options.table.columns.clear();
    const std::string time = all.at("time_ns", all.rows() / 2);
    options.table.from_ns = options.table.to_ns = std::stoull(time);
    const ArrowContent then = read_events(path, options);
    const auto& times = all.columns.at("time_ns");
    CHECK(then.rows() == static_cast<std::size_t>(std::count(times.begin(), times.end(), time)));
    // Events keep their numbers.
    const auto first = std::find(times.begin(), times.end(), time) - times.begin();
    CHECK(then.at("event", 0) == all.at("event", static_cast<std::size_t>(first)));
  }

  TEST_CASE("provider batches: a stream may be left before its end, or never be read") {
    ProviderEventOptions options;
    options.table.batch_rows = 1;
    for (const int taken : {0, 1, 2}) {
      OwnedStream out;
      REQUIRE(stream_provider_events(capture_path("small.nettrace"), {}, options, &out.stream)
                  .has_value());
      for (int i = 0; i < taken; ++i) {
        ArrowArray batch{};
        REQUIRE(out.stream.get_next(&out.stream, &batch) == 0);
        REQUIRE((batch.release != nullptr));
        CHECK(batch.length == 1);
        batch.release(&batch);
      }
    }
  }

  TEST_CASE("provider batches: what has no such events is refused") {
    const ScratchDirectory folder;
    const std::string spk = folder.file("a.spk");
    write_file(spk, spk_bytes(random_content(73, 5, 5)));
    ArrowArrayStream stream{};
    struct Case {
      std::string path;
      ProviderEventOptions options;
      ErrorCode code;
    };
    ProviderEventOptions no_rows;
    no_rows.table.batch_rows = 0;
    ProviderEventOptions no_column;
    no_column.table.columns = {"nothing"};
    for (const auto& [path, options, code] :
         {Case{spk, {}, ErrorCode::kUsage},
          Case{capture_path("file.perf.data"), {}, ErrorCode::kUsage},
          Case{folder.file("none"), {}, ErrorCode::kNotFound},
          Case{capture_path("small.nettrace"), no_rows, ErrorCode::kUsage},
          Case{capture_path("small.nettrace"), no_column, ErrorCode::kUsage}}) {
      CAPTURE(path);
      const Status made = stream_provider_events(path, {}, options, &stream);
      REQUIRE(!made.has_value());
      CHECK(made.error().code == code);
      CHECK((stream.release == nullptr));
    }
  }

  TEST_CASE("provider batches: an error comes after the rows before it, and stays") {
    const arrow::Field field{"n", arrow::ColumnType::kUInt64, false};
    const auto projection = arrow::Projection::create({&field, 1}, {});
    REQUIRE(projection.has_value());
    app::BatchProducer producer(
        *projection, 2,
        [](app::BatchProducer& rows, const capture::ReadControl& /*control*/) -> Status {
          for (std::uint64_t i = 0; i < 4; ++i) {
            rows.batch().put_number(0, i);
            if (const Status put = rows.end_row(); !put) {
              return put;
            }
          }
          return Error{ErrorCode::kCorrupt, 7, "broken"};
        });
    std::size_t rows = 0;
    Status last;
    while (last) {
      arrow::Batch batch(*projection);
      last = producer.next(batch);
      CHECK((last.has_value() ? 2U : 0U) == batch.rows());
      rows += batch.rows();
    }
    CHECK(rows == 4);
    CHECK(last.error().code == ErrorCode::kCorrupt);
  }

  TEST_CASE("provider batches: a producer that nobody reads is told to stop") {
    const arrow::Field field{"n", arrow::ColumnType::kUInt64, false};
    const auto projection = arrow::Projection::create({&field, 1}, {});
    REQUIRE(projection.has_value());
    Status told;
    bool asked = false;
    {
      app::BatchProducer producer(
          *projection, 1,
          [&](app::BatchProducer& rows, const capture::ReadControl& control) -> Status {
            while (told) {
              rows.batch().put_number(0, 0);
              told = rows.end_row();
            }
            asked = control.stop_requested();
            return told;
          });
      arrow::Batch batch(*projection);
      REQUIRE(producer.next(batch).has_value());
    }
    REQUIRE(!told.has_value());
    CHECK(told.error().code == ErrorCode::kCancelled);
    CHECK(asked);
  }
}

}  // namespace
}  // namespace stackpack::test
