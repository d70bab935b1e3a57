#include "formats/perf/perf_source.h"

#include "formats/perf/capture_reader.h"

namespace stackpack::perf {

Result<capture::ByteAccount> read_capture(Input& input, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  return CaptureReader(sink, options.control).run(input);
}

}  // namespace stackpack::perf
