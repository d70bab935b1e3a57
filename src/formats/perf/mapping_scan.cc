#include "formats/perf/mapping_scan.h"

#include "capture/fact_sink.h"
#include "formats/perf/capture_reader.h"

namespace stackpack::perf {

Result<capture::SystemTables> scan_mappings(Input& input, const capture::ReadControl& control) {
  capture::FactSink sink;
  CaptureReader reader(sink, {nullptr, control.cancelled});
  reader.leave_out_samples();
  const Result<capture::ByteAccount> account = reader.run(input);
  if (!account) {
    return account.error();
  }
  return sink.system().finish();
}

}  // namespace stackpack::perf
