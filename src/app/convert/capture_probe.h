#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/format_probe.h"
#include "codec/decompressed_source.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The first bytes of a source, as many as probes are shown.
struct HeadBytes {
  std::vector<std::byte> bytes;
  bool whole = false;

  [[nodiscard]] capture::CaptureHead view() const { return {bytes, whole}; }
};

/// Of a stream they are gone.
Result<HeadBytes> read_head(io::ByteSource& source);

/// The same; the next read of a stream gives them again.
Result<HeadBytes> peek_head(std::unique_ptr<io::ByteSource>& source);

/// How a file that begins with `head` is compressed, as far as that is not part of its format: a
/// pprof profile is a gzip file by itself. `asked`: the name of a format; may be empty.
codec::FileCompression compression_around(const HeadBytes& head, const std::string& asked);

/// Whether `path` is a capture that convert() reads: by content, not by name. A zip archive is one
/// when it holds a capture. Nothing is unpacked to disk.
/// Errors: kIo, kResource: whether it is one is not known.
Result<bool> looks_like_capture(const std::string& path);

/// Whether `path` is a .spk file, whole or damaged, by content. Only regular files are opened.
/// Errors: kIo, kResource: whether it is one is not known.
Result<bool> is_packed(const std::string& path);

/// The same; not known is no.
bool looks_like_packed(const std::string& path);

}  // namespace stackpack::app
