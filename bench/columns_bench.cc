// Benchmark "columns": what decoding some columns of samples takes, and what each column takes in
// the file: how much smaller the blocks are when all its values are the same, or times are rounded
// down. With --spk of that file, else of one made of the input. One thread.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "codec/zstd_codec.h"
#include "spk/write/sample_block_encoder.h"
#include "stackpack/sample_cursor.h"
#include "stopwatch.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

struct Projection {
  const char* name;
  std::uint32_t columns;
  bool any_order;
};

constexpr std::array<Projection, 7> kProjections{{
    {"all", kAllSampleColumns, false},
    {"all, any order", kAllSampleColumns, true},
    {"time", kTimeColumn, false},
    {"time, any order", kTimeColumn, true},
    {"callstack", kStackColumn, false},
    {"time, event, callstack", kTimeColumn | kEventColumn | kStackColumn, false},
    {"event, weight, any order", kEventColumn | kWeightColumn, true},
}};

bool decode_columns(const Reader& reader, const Projection& projection, unsigned repeat) {
  SampleScan scan;
  scan.columns = projection.columns;
  scan.query.any_order = projection.any_order;
  Times times;
  std::uint64_t rows = 0;
  for (unsigned round = 0; round < repeat; ++round) {
    rows = 0;
    const Stopwatch watch;
    if (!visit_samples(reader, scan, [&rows](const SampleColumns& samples) {
          rows += samples.rows;
          return true;
        })) {
      return false;
    }
    times.add(watch.nanoseconds());
  }
  std::printf("decode %-27s %6.1f ns a sample\n", projection.name,
              times.least() / static_cast<double>(rows));
  return true;
}

struct Variant {
  const char* name;
  void (*change)(StoredSample&);
  std::uint64_t bytes = 0;
};

bool add_block(std::span<const StoredSample> samples, codec::ZstdCompressor& zstd,
               Variant& variant) {
  std::vector<StoredSample> changed(samples.begin(), samples.end());
  for (StoredSample& sample : changed) {
    variant.change(sample);
  }
  spk::BlockContent head;
  spk::BlockContent body;
  spk::SampleBlockEncoder().encode(changed, head, body);
  std::vector<std::byte> frame;
  for (const spk::BlockContent* content : {&head, &body}) {
    frame.clear();
    if (!zstd.compress_parts(content->parts(), frame)) {
      return false;
    }
    variant.bytes += frame.size();
  }
  return true;
}

bool measure_sizes(const Reader& reader) {
  std::array<Variant, 9> variants{{
      {"as they are", [](StoredSample&) {}},
      {"same time", [](StoredSample& s) { s.time_ns = 0; }},
      {"same thread", [](StoredSample& s) { s.pid = s.tid = 0; }},
      {"same processor", [](StoredSample& s) { s.cpu = 0; }},
      {"same event", [](StoredSample& s) { s.event = 0; }},
      {"same weight", [](StoredSample& s) { s.weight = 1; }},
      {"same callstack", [](StoredSample& s) { s.stack = 0; }},
      {"times of 1 us", [](StoredSample& s) { s.time_ns -= s.time_ns % 1'000; }},
      {"times of 1 ms", [](StoredSample& s) { s.time_ns -= s.time_ns % 1'000'000; }},
  }};
  constexpr std::uint64_t kEnough = 500'000;
  codec::ZstdCompressor zstd(1);
  std::uint64_t samples = 0;
  bool right = true;
  const Status read = reader.samples({}, [&](std::span<const StoredSample> block) {
    samples += block.size();
    for (Variant& variant : variants) {
      right = right && add_block(block, zstd, variant);
    }
    return right && samples < kEnough;
  });
  if (!read || !right || samples == 0) {
    return false;
  }
  const auto all = static_cast<double>(variants[0].bytes);
  for (const Variant& variant : variants) {
    const auto bytes = static_cast<double>(variant.bytes);
    const auto count = static_cast<double>(samples);
    std::printf("%-34s %6.3f B a sample  %+6.3f\n", variant.name, bytes / count,
                (bytes - all) / count);
  }
  return true;
}

}  // namespace

bool bench_columns(const Settings& settings) {
  SpkFile file;
  if (settings.spk_path.empty()) {
    file = write_file(stored_input(settings), spk::WriterOptions{}.level, Samples::kWritten);
  }
  const auto reader =
      settings.spk_path.empty() ? Reader::open_memory(file.bytes) : Reader::open(settings.spk_path);
  if (!reader) {
    return false;
  }
  for (const Projection& projection : kProjections) {
    if (!decode_columns(**reader, projection, settings.repeat)) {
      return false;
    }
  }
  return measure_sizes(**reader);
}

}  // namespace stackpack::bench
