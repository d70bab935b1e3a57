#include "stored_input.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <unistd.h>

#include "dag/builder.h"
#include "io/output_file.h"
#include "spk/write/writer.h"
#include "stopwatch.h"

namespace stackpack::bench {
namespace {

StoredInput make_input(const StackStream& stream) {
  StoredInput input;
  dag::Builder builder({});
  std::vector<StackId> ids(stream.size());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const auto node = builder.intern(stream.stack(i), stream.entry(i).thread);
    if (!node) {
      return input;
    }
    ids[i] = static_cast<std::uint32_t>(*node);
  }
  dag::Builder::Frozen frozen = builder.freeze();
  input.dag = std::move(frozen.dag);
  input.by_id.resize(input.dag.stack_count);
  input.samples.resize(stream.size());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    ids[i] = frozen.stack_of_node[ids[i]];
    input.by_id[ids[i]] = i;
    static_cast<Sample&>(input.samples[i]) = stream.sample(i);
    input.samples[i].stack = ids[i];
  }
  input.ids = std::move(ids);
  std::stable_sort(
      input.samples.begin(), input.samples.end(),
      [](const StoredSample& a, const StoredSample& b) { return a.time_ns < b.time_ns; });
  return input;
}

std::vector<Event> events_of(const StoredInput& input) {
  std::uint32_t count = 0;
  for (const StoredSample& sample : input.samples) {
    count = std::max(count, sample.event + 1);
  }
  std::vector<Event> events;
  for (std::uint32_t event = 0; event < count; ++event) {
    events.push_back({"event " + std::to_string(event), true});
  }
  return events;
}

bool write_to(const StoredInput& input, int level, Samples samples, const std::string& path,
              SpkFile& file) {
  auto out = io::OutputFile::create(path);
  if (!out) {
    return false;
  }
  spk::WriterOptions options;
  options.level = level;
  auto writer = spk::Writer::create(**out, options);
  if (!writer || !(*writer)->write_dag(input.dag)) {
    return false;
  }
  const std::vector<Event> events = events_of(input);
  const ProcessStopwatch watch;
  if (samples == Samples::kWritten && !(*writer)->add_samples(input.samples)) {
    return false;
  }
  Statistics statistics;
  for (const Event& event : events) {
    statistics.events.push_back({event.name, 0});
  }
  const auto finished = (*writer)->finish({}, events, statistics, "bench");
  file.samples_ns = watch.nanoseconds();
  if (!finished || !(*out)->commit()) {
    return false;
  }
  file.statistics = *finished;
  return true;
}

}  // namespace

const StoredInput& stored_input(const Settings& settings) {
  static const StoredInput kInput = make_input(input_stream(settings));
  return kInput;
}

SpkFile write_file(const StoredInput& input, int level, Samples samples) {
  SpkFile file;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("stackpack-bench-" + std::to_string(::getpid()) + ".spk"))
                               .string();
  if (write_to(input, level, samples, path, file)) {
    file.bytes.resize(std::filesystem::file_size(path));
    std::ifstream in(path, std::ios::binary);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how streams read bytes
    in.read(reinterpret_cast<char*>(file.bytes.data()),
            static_cast<std::streamsize>(file.bytes.size()));
    const auto reader = Reader::open_memory(file.bytes);
    if (!in || !reader) {
      file.bytes.clear();
    } else {
      file.sections = (*reader)->sections();
    }
  }
  std::filesystem::remove(path);
  return file;
}

std::uint64_t SpkFile::stored_bytes(const std::string& section) const {
  for (const SectionInfo& info : sections) {
    if (info.name == section) {
      return info.stored_bytes;
    }
  }
  return 0;
}

std::uint64_t SpkFile::raw_bytes(const std::string& section) const {
  for (const SectionInfo& info : sections) {
    if (info.name == section) {
      return info.raw_bytes;
    }
  }
  return 0;
}

std::uint64_t SpkFile::dag_bytes() const {
  return stored_bytes("frames") + stored_bytes("edges") + stored_bytes("pages") +
         stored_bytes("page_index");
}

std::unique_ptr<Reader> SpkFile::open(std::uint64_t cache_bytes) const {
  return Reader::open_memory(bytes, {cache_bytes}).value();
}

}  // namespace stackpack::bench
