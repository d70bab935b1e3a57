#include "app/convert/measure.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/convert/capture_probe.h"
#include "app/listing/selected_samples.h"
#include "io/scratch_directory.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

Result<Measurement> measure_spk(const std::string& path, const SampleFilter& filter,
                                bool by_process) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(path);
  if (!reader) {
    return reader.error();
  }
  Result<CaptureFacts> facts = capture_facts(**reader, filter, by_process);
  if (!facts) {
    return facts.error();
  }
  Measurement measured{
      path, (*reader)->file_bytes(), (*reader)->statistics(), (*reader)->sections(),
      {},   !filter.empty(),         std::move(facts).value()};
  if (measured.filtered) {
    if (const Status status = recount(**reader, filter, measured.statistics); !status) {
      return status.error();
    }
  }
  const Result<bool> aggregated = is_aggregated(**reader);
  if (!aggregated) {
    return aggregated.error();
  }
  if (*aggregated) {
    Result<std::vector<std::uint64_t>> weights = weights_of_events(**reader, filter);
    if (!weights) {
      return weights.error();
    }
    measured.event_weights = std::move(*weights);
  }
  return measured;
}

}  // namespace

Result<Measurement> measure(const std::string& path, const ConvertOptions& options,
                            const SampleFilter& filter, bool by_process,
                            ConvertProgress* progress) {
  // What neither is told to be a capture nor looks like one is taken for a .spk file, so that its
  // errors are those of a .spk file. A pipe must not be looked into: what was read is gone.
  std::error_code failed;
  const bool is_capture = path == "-" || !options.format.empty() ||
                          std::filesystem::is_fifo(path, failed) || looks_like_capture(path);
  if (!is_capture) {
    return measure_spk(path, filter, by_process);
  }
  const Result<std::unique_ptr<io::ScratchDirectory>> scratch = io::ScratchDirectory::create();
  if (!scratch) {
    return scratch.error();
  }
  const std::string packed = (*scratch)->path() + "/capture.spk";
  const Result<ConvertReport> report = convert(path, packed, options, progress);
  if (!report) {
    return report.error();
  }
  Result<Measurement> measurement = measure_spk(packed, filter, by_process);
  if (measurement) {
    measurement->file = path;
  }
  return measurement;
}

}  // namespace stackpack::app
