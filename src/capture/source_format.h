// What a capture format offers to the program: one SourceFormat in its folder, and one line in
// app/convert/capture_formats.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/format_probe.h"
#include "capture/read_control.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::capture {

class DumpUnwinder;

/// The bytes of a capture: one source, or several that are read together.
struct CaptureBytes {
  std::unique_ptr<io::ByteSource> main;
  struct Part {
    std::uint32_t number = 0;  ///< as messages name it, see Error::part
    std::unique_ptr<io::ByteSource> source;
  };
  std::vector<Part> parts;
};

/// What a reader is given besides the bytes.
struct ReadRequest {
  ReadControl control;
  std::string scratch_directory;  ///< where scratch files are made when they are needed
  /// Makes callstacks of dumps; null: they are left alone. With one, every source is seekable.
  DumpUnwinder* unwinder = nullptr;
};

struct SourceFormat {
  std::string_view name;  ///< as --format takes it and a .spk file keeps it

  /// Whether a capture that begins so is of this format. Cost: at most one pass over the head.
  Probe (*probe)(const CaptureHead& head) = nullptr;
  /// Whether such a file can be read as it comes from a pipe; others need a seekable source.
  bool (*streams)(std::span<const std::byte> head) = nullptr;

  /// Streams the whole capture into `sink`. `bytes` must stay until the functions of the sink's
  /// system are finished, whose names may be read from there.
  /// Result: where the bytes went; an Error only when nothing can be read, when the sink fails, or
  ///         when reading fails.
  Result<ByteAccount> (*read)(CaptureBytes& bytes, CallstackSink& sink,
                              const ReadRequest& request) = nullptr;

  /// Opens a directory that is one capture. Null: there is no such thing.
  Result<CaptureBytes> (*open_directory)(const std::string& path) = nullptr;

  /// Several files may be read as one session: `read` takes parts.
  bool has_sessions = false;

  /// Ending of the names, as in ".etl", of files that are captures whatever their content. Empty:
  /// names do not say.
  std::string_view ending{};

  /// Samples may come with dumps of registers and stack memory (ReadRequest::unwinder).
  bool has_dumps = false;

  /// It gives payloads of events (CallstackSink::payloads()).
  bool has_payloads = false;
  /// What describes them may come after them.
  bool describes_payloads_late = false;

  /// Names of its loss counters, and its reasons to skip bytes, whose names may be counted as well.
  std::span<const std::string_view> loss_names{};
  std::span<const SkipReason> skip_reasons{};
};

/// SourceFormat::streams of formats that are read once, from the beginning.
inline bool always_streams(std::span<const std::byte> /*head*/) {
  return true;
}
/// SourceFormat::streams of formats whose tables stand after the samples: they are read twice, or
/// as a whole.
inline bool never_streams(std::span<const std::byte> /*head*/) {
  return false;
}

/// SourceFormat::read of formats with one source, whose options have a `control`.
template <typename Options,
          Result<ByteAccount> (*Read)(io::ByteSource&, CallstackSink&, const Options&)>
Result<ByteAccount> read_main(CaptureBytes& bytes, CallstackSink& sink,
                              const ReadRequest& request) {
  Options options;
  options.control = request.control;
  return Read(*bytes.main, sink, options);
}

}  // namespace stackpack::capture
