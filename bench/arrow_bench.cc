// Benchmark "arrow": the samples of a file as an Arrow stream, into a consumer that adds every
// value up. With --spk that file, else one made of the input. One thread.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "stackpack/arrow.h"
#include "stopwatch.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

template <typename Number>
std::uint64_t sum_of(const ArrowArray& array) {
  const auto* const numbers = static_cast<const Number*>(array.buffers[1]);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < array.length; ++i) {
    sum += numbers[i];
  }
  return sum;
}

struct Consumed {
  std::uint64_t rows = 0;
  std::uint64_t sum = 0;
};

bool consume(const ArrowTables& tables, const ArrowOptions& options, Consumed& consumed) {
  ArrowArrayStream stream{};
  ArrowSchema schema{};
  if (!tables.stream(ArrowTable::kSamples, options, &stream) ||
      stream.get_schema(&stream, &schema) != 0) {
    return false;
  }
  ArrowArray batch{};
  bool right = true;
  while ((right = stream.get_next(&stream, &batch) == 0) && batch.release != nullptr) {
    consumed.rows += static_cast<std::uint64_t>(batch.length);
    for (std::int64_t i = 0; i < batch.n_children; ++i) {
      const char format = schema.children[i]->format[0];
      consumed.sum += format == 'L'   ? sum_of<std::uint64_t>(*batch.children[i])
                      : format == 'C' ? sum_of<std::uint8_t>(*batch.children[i])
                                      : sum_of<std::uint32_t>(*batch.children[i]);
    }
    batch.release(&batch);
  }
  schema.release(&schema);
  stream.release(&stream);
  return right;
}

bool measure_columns(const ArrowTables& tables, const char* title, const ArrowOptions& options,
                     unsigned repeat) {
  Times times;
  Consumed consumed;
  for (unsigned round = 0; round <= repeat; ++round) {
    consumed = {};
    const Stopwatch watch;
    if (!consume(tables, options, consumed)) {
      return false;
    }
    if (round > 0) {  // the first one finds the numbers of callstacks
      times.add(watch.nanoseconds());
    }
  }
  const auto rows = static_cast<double>(consumed.rows);
  std::printf("%-34s %12.0f samples  %6.1f ns each  %6.1f M/s  sum %llu\n", title, rows,
              times.least() / rows, rows / times.least() * 1e3,
              static_cast<unsigned long long>(consumed.sum));
  return true;
}

bool measure_reader(const Reader& reader, bool any_order, unsigned repeat) {
  Times times;
  std::uint64_t rows = 0;
  for (unsigned round = 0; round < repeat; ++round) {
    rows = 0;
    const Stopwatch watch;
    SampleQuery query;
    query.any_order = any_order;
    const Status read = reader.samples(query, [&rows](std::span<const StoredSample> samples) {
      rows += samples.size();
      return true;
    });
    if (!read) {
      return false;
    }
    times.add(watch.nanoseconds());
  }
  std::printf("%-34s %12llu samples  %6.1f ns each\n",
              any_order ? "the reader alone, any order" : "the reader alone",
              static_cast<unsigned long long>(rows), times.least() / static_cast<double>(rows));
  return true;
}

}  // namespace

bool bench_arrow(const Settings& settings) {
  SpkFile file;
  if (settings.spk_path.empty()) {
    file = write_file(stored_input(settings), spk::WriterOptions{}.level, Samples::kWritten);
  }
  auto opened =
      settings.spk_path.empty() ? Reader::open_memory(file.bytes) : Reader::open(settings.spk_path);
  if (!opened) {
    return false;
  }
  const std::shared_ptr<const Reader> reader(std::move(*opened));
  const auto tables = ArrowTables::of(reader);
  ArrowOptions all;
  ArrowOptions all_any;
  all_any.any_order = true;
  ArrowOptions few;
  few.columns = {"time_ns", "event", "callstack"};
  ArrowOptions few_any = few;
  few_any.any_order = true;
  return measure_reader(*reader, false, settings.repeat) &&
         measure_reader(*reader, true, settings.repeat) &&
         measure_columns(*tables, "all columns", all, settings.repeat) &&
         measure_columns(*tables, "all columns, any order", all_any, settings.repeat) &&
         measure_columns(*tables, "time, event, callstack", few, settings.repeat) &&
         measure_columns(*tables, "time, event, callstack, any order", few_any, settings.repeat);
}

}  // namespace stackpack::bench
