#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/maps/latest_ranges.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// What a jitdump file left out or did not say.
struct JitDumpCounts {
  std::uint64_t loads = 0;
  std::uint64_t moves = 0;
  std::uint64_t unread_records = 0;  ///< larger than is read at once, or damaged inside
  bool cut = false;                  ///< it ends inside a record: the process was killed
};

/// Code that a process made at run time, with times, as it writes it to jit-PID.dump.
///
/// Lines have the time of their code where its bytes were used again.
/// Read as a stream: what stays is the names, some 60 bytes for each piece of code, lines of code
/// that has an address asked for, and 32 MiB of what is known of frames; code after that has none.
class JitDump {
 public:
  static constexpr std::size_t kMostFrameBytes = std::size_t{32} << 20;

  /// `addresses`: ascending, those that name() will be asked for.
  /// Errors: kCorrupt without the header; kUnsupported for a version above 1; kLimit; kIo.
  static Result<JitDump> read(io::ByteSource& source, std::span<const std::uint64_t> addresses);

  [[nodiscard]] std::uint32_t pid() const { return pid_; }

  /// False: the times are ticks of a processor, which nobody can compare with those of samples.
  [[nodiscard]] bool has_times() const { return has_times_; }

  /// Adds rows for code that has an address of the request, with the owner, place and life of
  /// `owner`, and source kJitdump. With `births`, each piece of code has the time when it was
  /// written, which is one of CLOCK_MONOTONIC; without, later code takes addresses from earlier.
  void name(const SymbolRequest& request, const CodeRange& owner, bool births,
            NameCollector& names) const;

  [[nodiscard]] const JitDumpCounts& counts() const { return counts_; }

  /// A piece of code, with what its compiler wrote about its frames.
  struct Frames {
    std::uint64_t time = 0;
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::span<const std::byte> eh_frame;  ///< empty: nothing was written
    bool reused = false;                  ///< some of its bytes are other code's, too
  };
  /// The pieces in the order of the file.
  [[nodiscard]] std::size_t pieces() const { return codes_.size(); }
  [[nodiscard]] Frames frames(std::size_t piece) const;
  /// Whether something was written about the frames of any.
  [[nodiscard]] bool has_frames() const { return !frame_bytes_.empty(); }

 private:
  friend class JitDumpReader;

  struct Code {
    std::uint64_t time = 0;
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::uint32_t name = kNoText;
    std::uint32_t line_count = 0;
    std::size_t first_line = 0;
    std::size_t first_frame_byte = 0;
    std::uint32_t frame_byte_count = 0;
    bool reused = false;  ///< some of its bytes are other code's, too
  };
  struct Line {
    std::uint64_t address = 0;
    std::uint32_t file = kNoText;
    std::uint32_t line = 0;
  };

  void add_function(std::uint32_t number, const CodeRange& range, bool births,
                    NameCollector& names) const;
  // The lines of a code in a part of it. `born_ns`: known where other code had its bytes as well.
  void add_lines(const Code& code, const SymbolRequest& request, const CodeRange& within,
                 std::uint64_t born_ns, NameCollector& names) const;

  std::uint32_t pid_ = 0;
  bool has_times_ = true;
  TextTable texts_;
  std::vector<Code> codes_;  // in the order of the file
  std::vector<Line> lines_;
  std::vector<std::byte> frame_bytes_;
  LatestRanges latest_;
  JitDumpCounts counts_;
};

}  // namespace stackpack::symbolize
