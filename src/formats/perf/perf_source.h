#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// How the bytes after the magic are laid out.
enum class Container : std::uint8_t { kNotPerf, kFile, kPipe };

/// Bytes of a capture that detect() wants to see (fewer for a shorter capture).
inline constexpr std::size_t kDetectBytes = 16;

/// Tells a perf.data capture by its first bytes; either byte order.
Container detect(std::span<const std::byte> head);

/// A capture: the file or stream that has the header, and the `data.N` streams of a directory.
struct Input {
  std::unique_ptr<io::ByteSource> main;
  struct Part {
    std::uint32_t number = 0;  ///< N of data.N
    std::unique_ptr<io::ByteSource> source;
  };
  std::vector<Part> parts;
};

/// Opens a directory written by `perf record --threads`: its `data` and every `data.N`, by number.
/// Errors: kNotFound when there is no `data` in it.
Result<Input> open_directory(const std::string& path);

struct ReadOptions {
  capture::ReadControl control;
};

/// Streams a whole capture into `sink`.
///
/// Memory: fixed windows, the attribute tables, open chains; nothing proportional to the input.
/// Damage: what can be read is read, the rest is counted in sink.losses().
/// Result: where the bytes went; an Error only when nothing can be read (not a perf.data file, no
///         usable attribute), when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(Input& input, capture::CallstackSink& sink,
                                          const ReadOptions& options);

}  // namespace stackpack::perf
