#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/convert/content_digest.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "formats/perf/perf_source.h"
#include "io/byte_source.h"
#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// An opened capture whose format is known.
class CaptureInput {
 public:
  /// Opens `path` ("-": standard input; a directory: perf record --threads) and tells its format
  /// by its first bytes unless options.format says it. What needs random access and comes from a
  /// pipe, and a member of a zip archive, goes to a nameless file in `scratch_directory` first.
  /// Errors: kNotFound, kIo; kUnsupported for bytes that are no capture; kUsage for an archive of
  ///         several captures when options.member names none of them.
  static Result<CaptureInput> open(const std::string& path, const ConvertOptions& options,
                                   const std::string& scratch_directory);

  /// Streams the capture into `sink`.
  Result<capture::ByteAccount> read(capture::CallstackSink& sink,
                                    const capture::ReadControl& control);

  /// "perf", "etl", "folded" or "pprof".
  [[nodiscard]] std::string kind() const;

  /// Bytes of all parts, when known before reading.
  [[nodiscard]] std::optional<std::uint64_t> size() const;

  /// What tells the content apart (ContentDigest), of an input that can be read once only; empty
  /// for files and directories, which can be looked at again. Call it after read(): it reads what
  /// is left of a stream.
  [[nodiscard]] Result<std::string> content();

  /// True when standard input or a FIFO was copied to a temporary file first.
  [[nodiscard]] bool spooled() const { return spooled_; }

 private:
  CaptureInput() = default;
  Status adopt(std::unique_ptr<io::ByteSource> source, CaptureFormat asked,
               const std::string& scratch_directory);

  std::unique_ptr<ContentDigest> passing_;  // of a stream; before the sources, which refer to it
  std::string content_;                     // of standard input that is a file
  CaptureFormat format_ = CaptureFormat::kPerf;
  perf::Input perf_;                        // of kPerf
  std::unique_ptr<io::ByteSource> single_;  // of the others
  bool spooled_ = false;
  std::string scratch_directory_;
};

}  // namespace stackpack::app
