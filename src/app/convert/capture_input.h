#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/convert/format_choice.h"
#include "app/convert/hashed_source.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "capture/source_identity.h"
#include "codec/decompressed_source.h"
#include "io/byte_source.h"
#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// An opened capture whose format is known.
class CaptureInput {
 public:
  /// Opens `path` ("-": standard input; a directory: perf record --threads) and finds its format
  /// by its first bytes unless options.format says it. gzip and zstd are decompressed on the way.
  /// What needs random access and comes from a stream, and a member of a zip archive, goes to a
  /// nameless file in `scratch_directory` first. An archive whose name says that it is a recording
  /// session is opened as open_session() does.
  /// `tried`: after an error, FormatChoice::tried().
  /// Errors: kNotFound, kIo; kUnsupported for bytes that are no capture; kUsage for another archive
  ///         of several captures when options.member names none of them.
  static Result<CaptureInput> open(const std::string& path, const ConvertOptions& options,
                                   const std::string& scratch_directory,
                                   std::vector<FormatTried>& tried);

  /// Opens several files, and all captures of those that are archives, to be read as one recording
  /// session.
  /// Errors: as open(), Error::part is the number of the path; kUsage for a format whose captures
  ///         stand alone.
  static Result<CaptureInput> open_session(std::span<const std::string> paths,
                                           const ConvertOptions& options,
                                           const std::string& scratch_directory,
                                           std::vector<FormatTried>& tried);

  /// Streams the capture into `sink`. Error::part of a session is the number of the path.
  /// `unwinder` makes callstacks of dumps; it may be null.
  Result<capture::ByteAccount> read(capture::CallstackSink& sink,
                                    const capture::ReadControl& control,
                                    capture::DumpUnwinder* unwinder = nullptr);

  /// After read() failed: goes on to the next format that the capture may be of, to be read from
  /// its beginning. False when none is left.
  bool choose_next(const Error& error);

  [[nodiscard]] const FormatChoice& choice() const { return choice_; }

  /// Name of the format: "perf", "etl", ...
  [[nodiscard]] std::string kind() const { return std::string(choice_.format()->name); }

  [[nodiscard]] const capture::SourceFormat& format() const { return *choice_.format(); }

  /// Bytes of all parts, when known before reading.
  [[nodiscard]] std::optional<std::uint64_t> size() const;

  /// What tells the content apart (ContentDigest), of an input that can be read once only; empty
  /// for files and directories, which can be looked at again. Call it after read(): it reads what
  /// is left of a stream.
  [[nodiscard]] Result<std::string> content();

  /// What tells the capture from others: XXH3 (128 bits) of all of its bytes as its format has
  /// them, so that it is the same from a file, a pipe and an archive, under whatever name and with
  /// whatever options; of several files, that of their hashes in order. Unknown when what is left
  /// of a stream is damaged, or a file has become shorter. Errors: those of reading. Call it after
  /// read(), and after content().
  [[nodiscard]] Result<std::optional<capture::SourceIdentity>> identity();

  /// True when a stream was copied to a temporary file first.
  [[nodiscard]] bool spooled() const { return spooled_; }

 private:
  CaptureInput() = default;
  Status add_path(const std::string& path, const ConvertOptions& options, bool session);
  Status add_archive(io::ByteSource& archive, const std::string& path,
                     const ConvertOptions& options, bool session);
  Status add_source(std::unique_ptr<io::ByteSource> source, const std::string& name,
                    const ConvertOptions& options, bool session);
  Status make_seekable(std::unique_ptr<io::ByteSource>& source);
  Status add_bytes(FormatChoice choice, std::unique_ptr<io::ByteSource> source);
  void hash_passing(std::unique_ptr<io::ByteSource>& source);
  [[nodiscard]] Error of_path(Error error) const;

  // Before the sources, which refer to them.
  std::unique_ptr<ContentDigest> passing_;                     // of a stream
  std::vector<std::unique_ptr<codec::StreamDamage>> damages_;  // of compressed inputs
  std::string content_;                                        // of standard input that is a file
  FormatChoice choice_;
  capture::CaptureBytes bytes_;
  std::vector<HashedSource*> hashed_;  // its main source, and its parts
  std::vector<std::uint32_t> owners_;  // of a session: which path gave the main source, each part
  bool spooled_ = false;
  std::string scratch_directory_;
};

}  // namespace stackpack::app
