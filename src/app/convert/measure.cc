#include "app/convert/measure.h"

#include <utility>

#include "app/convert/packed_capture.h"
#include "app/listing/selected_samples.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

Result<Measurement> measure_spk(const std::string& path, const Reader& reader,
                                const SampleFilter& filter, bool by_process) {
  Result<CaptureFacts> facts = capture_facts(reader, filter, by_process);
  if (!facts) {
    return facts.error();
  }
  Measurement measured{path, reader.file_bytes(), reader.statistics(),      reader.sections(),
                       {},   !filter.empty(),     std::move(facts).value(), {}};
  if (const Result<std::uint64_t> resident = reader.resident_bytes()) {
    measured.resident_bytes = *resident;
  } else if (resident.error().code != ErrorCode::kCorrupt) {
    return resident.error();
  }
  if (measured.filtered) {
    if (const Status status = recount(reader, filter, measured.statistics); !status) {
      return status.error();
    }
  }
  const Result<bool> aggregated = is_aggregated(reader);
  if (!aggregated) {
    return aggregated.error();
  }
  if (*aggregated) {
    Result<std::vector<core::ScaledNumber>> weights = weights_of_events(reader, filter);
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
  const Result<PackedCapture> packed = PackedCapture::open(path, {options}, progress);
  return packed ? measure_spk(path, packed->reader(), filter, by_process)
                : Result<Measurement>(packed.error());
}

}  // namespace stackpack::app
