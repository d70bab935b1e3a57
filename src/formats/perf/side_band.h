#pragma once

#include "formats/perf/capture_context.h"
#include "formats/perf/record.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Records about processes, threads and mapped images, and about losses: all of the kernel's
/// records but SAMPLE and CALLCHAIN_DEFERRED, and the perf tool's BUILD_ID.
///
/// A record without a time (the perf tool writes such ones for what was there before) is a fact of
/// before the capture.
class SideBand {
 public:
  explicit SideBand(CaptureContext& context) : context_(context) {}

  /// `record` has a known kernel type. Those that are not kept are counted.
  Status convert(const Record& record);

  /// The content of a BUILD_ID record, from the stream or from the build-id feature: s32 pid,
  /// 24 bytes, file name. False: it is too short.
  bool convert_build_id(bytes::ByteCursor body, std::uint16_t misc);

 private:
  bool convert_body(const Record& record, bytes::ByteCursor body, std::uint64_t time_ns);
  bool convert_control_group(const Record& record, bytes::ByteCursor body);
  bool convert_aux(const Record& record, bytes::ByteCursor body);
  bool convert_comm(bytes::ByteCursor body, std::uint16_t misc, std::uint64_t time_ns);
  bool convert_fork(bytes::ByteCursor body);
  bool convert_exit(bytes::ByteCursor body);
  bool convert_mmap(const Record& record, bytes::ByteCursor body, std::uint64_t time_ns);
  bool convert_ksymbol(bytes::ByteCursor body, std::uint64_t time_ns);
  bool convert_losses(const Record& record, bytes::ByteCursor body);

  CaptureContext& context_;
};

}  // namespace stackpack::perf
