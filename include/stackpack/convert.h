// Converts a capture into a .spk file.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack {

/// Names of the capture formats: "perf", "etl", ...
std::vector<std::string> capture_format_names();

struct ConvertOptions {
  std::string format;  ///< one of capture_format_names(); empty: by the first bytes
  int level = 9;       ///< zstd level, 1..22
  /// Bytes for callstacks, facts and scratch; what does not fit goes to temporary files. 0:
  /// kDefaultMemory for callstacks and scratch, or a quarter of the machine's or control group's
  /// memory where that is less; facts about the system have 256 MiB besides.
  std::uint64_t memory_limit = 0;
  static constexpr std::uint64_t kDefaultMemory = std::uint64_t{512} << 20;
  unsigned at_a_time = 1;  ///< conversions in this process that share that quarter
  bool samples = true;     ///< false: counts per (stack, event, process, origin) only
  /// Times of samples are rounded down, by less than this, as far as no sample gets into another
  /// life of its process or thread, or mapping, by it. 0 or 1: they are kept as recorded, and so
  /// are those of imported profiles.
  std::uint64_t time_resolution_ns = 0;
  /// Threads that encode samples, besides the one that converts; the file does not depend on it.
  /// kAutoEncoders: two, or as many as there are processors if that is less.
  unsigned encoders = kAutoEncoders;
  static constexpr unsigned kAutoEncoders = ~0U;
  /// What threads do when they do not run, of captures that record context switches: the
  /// intervals that Reader::intervals() gives. Needs `samples`.
  bool waits = true;
  /// The samples of switches and wakings themselves, where `waits` are made of them.
  bool switch_samples = true;
  /// What events say besides their callstacks: Reader::event_values(). Needs `samples`.
  bool event_values = true;
  /// What samples say of accesses to memory, and of what control group they are:
  /// Reader::sample_fields(). Needs `samples`.
  bool sample_fields = true;
  /// Whole branch stacks of samples: Reader::branch_stack(). Needs `sample_fields` and `samples`.
  bool keep_branches = false;
  bool redact = false;  ///< leave out command lines, host name, user names in paths
  bool force = false;   ///< replace an existing file that is neither a .spk file nor empty
  std::string member;   ///< of a zip archive: which of its captures; may be empty
  /// Make callstacks of dumps of registers and stack memory (perf record --call-graph dwarf), by
  /// the unwind tables of the binaries that were recorded.
  bool unwind = false;
  /// Where binaries are looked for, by build id, besides the paths that were recorded: folders, and
  /// archives that `stackpack collect` made.
  std::vector<std::string> binary_folders{};
  /// What those paths are below; given, it makes binaries believed that have no build id recorded.
  std::string sysroot{};
};

/// Why a capture was not read as one of a format.
struct FormatTried {
  std::string format;
  std::string why;
};

/// What a conversion is doing.
enum class ConvertStage : std::uint8_t { kReading, kCallstacks, kSamples, kFinishing };

/// Shared with the thread that watches a conversion.
struct ConvertProgress {
  std::atomic<std::uint64_t> bytes_total{0};  ///< 0: not known (a pipe)
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<std::uint64_t> samples{0};
  std::atomic<ConvertStage> stage{ConvertStage::kReading};
  std::atomic<std::uint64_t> samples_written{0};  ///< of `samples`, while in kSamples
  std::atomic<bool> cancelled{false};             ///< set it to stop with kCancelled
  /// After an error on an input that no format is sure to be of: each format, the likely ones
  /// first. Look at it when the conversion has ended.
  std::vector<FormatTried> tried;
  std::atomic<bool> held{false};  ///< while set, the output does not take its place: kFinishing
};

/// Seconds of one stage, for --timings.
struct StageTime {
  std::string name;  ///< "read", "callstacks", "samples", "finish"
  double seconds = 0;
};

/// How often one part of a conversion had to wait for another, for --timings. Which parts there are
/// depends on the version.
struct StageWaits {
  std::string name;
  std::uint64_t count = 0;
};

struct ConvertReport {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  Statistics statistics;
  std::vector<std::string> warnings;  ///< one line each, for a person
  bool lossy = false;                 ///< a recorder or damage counter is above zero
  std::vector<StageTime> stages;
  std::vector<StageWaits> waits;
};

/// Names of the captures in a zip archive, in the archive's order; empty when `path` is not an
/// archive. Captures are found by their first bytes, .etl files by their names as well.
/// Errors: kNotFound, kIo, kCorrupt; kLimit for an archive that would fill the disk.
Result<std::vector<std::string>> captures_in_archive(const std::string& path);

/// Reads the capture at `input` ("-": standard input; a directory: perf record --threads) and
/// writes `output` ("-": standard output), which appears whole or not at all.
/// gzip and zstd are decompressed on the way.
/// A zip archive is read when it holds one capture, or options.member names one, or its name says
/// that it is a recording session (.diagsession, .etl.zip): that becomes one file, as
/// convert_session() makes it.
/// The file's fingerprint is a text of the version of the program, the options that change the
/// content, and a digest of parts of the input (its size, the first 4 KiB of every MiB, the last
/// 4 KiB): equal fingerprints mean that converting again would give the same file.
/// The output has the permissions of the input, or of the .spk file that it replaces.
/// What the call reads it never writes, whatever options.force says: neither the input, by whatever
/// name, nor a part of it, nor a binary that it unwinds with. The same holds for every call of this
/// library that has an output.
/// Errors: kNotFound, kIo, kCorrupt/kTruncated/kUnsupported when nothing of the input is readable,
///         kUsage when an archive leaves the choice open, when the output is a file that is read,
///         or would replace a file that is no .spk file without options.force; kCancelled.
Result<ConvertReport> convert(const std::string& input, const std::string& output,
                              const ConvertOptions& options, ConvertProgress* progress);

/// Reads the traces of one recording session together: .etl files, and all .etl files of zip
/// archives. Processes, threads and images that one trace describes are those of all. The output
/// depends on the content of the inputs, not on their order or names.
/// Errors: as convert(), Error::part is the number of the input; kUsage for captures that are not
///         read together.
Result<ConvertReport> convert_session(const std::vector<std::string>& inputs,
                                      const std::string& output, const ConvertOptions& options,
                                      ConvertProgress* progress);

}  // namespace stackpack
