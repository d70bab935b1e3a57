#include "formats/perf/perf_source.h"

#include <utility>

#include "formats/perf/capture_reader.h"
#include "formats/perf/mapping_scan.h"

namespace stackpack::perf {

Result<capture::ByteAccount> read_capture(Input& input, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  if (options.unwinder == nullptr) {
    return CaptureReader(sink, options.control).run(input);
  }
  // A mapping may come after the samples that it explains: records are in order of time in each
  // processor's buffer only, and parts of a directory have no order among them.
  Result<capture::SystemTables> tables = scan_mappings(input, options.control);
  if (!tables) {
    return tables.error();
  }
  options.unwinder->begin(std::move(*tables));
  Result<capture::ByteAccount> account =
      CaptureReader(sink, options.control, options.unwinder).run(input);
  if (account) {
    options.unwinder->finish(sink);
  }
  return account;
}

}  // namespace stackpack::perf
