#include "app/convert/capture_probe.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "app/convert/archive_members.h"
#include "app/convert/capture_formats.h"
#include "io/byte_source.h"
#include "io/files_read.h"
#include "spk/format/directory.h"
#include "spk/format/layout.h"

namespace stackpack::app {

namespace {

// What an error says about the content: that it is no capture, or nothing.
Result<bool> no_capture_or(const Error& error) {
  const bool unknown = error.code == ErrorCode::kIo || error.code == ErrorCode::kResource;
  return unknown ? Result<bool>(error) : Result<bool>(false);
}

}  // namespace

Result<HeadBytes> read_head(io::ByteSource& source) {
  HeadBytes head{std::vector<std::byte>(capture::kProbeBytes)};
  std::size_t size = 0;
  while (size < head.bytes.size() && !head.whole) {
    const auto rest = std::span(head.bytes).subspan(size);
    const Result<std::size_t> count =
        source.seekable() ? source.read_at(size, rest) : source.read(rest);
    if (!count) {
      return count.error();
    }
    head.whole = *count == 0;
    size += *count;
  }
  head.bytes.resize(size);
  return head;
}

Result<HeadBytes> peek_head(std::unique_ptr<io::ByteSource>& source) {
  Result<HeadBytes> head = read_head(*source);
  if (head && !source->seekable()) {
    source = io::source_with_head(head->bytes, std::move(source));
  }
  return head;
}

codec::FileCompression compression_around(const HeadBytes& head, const std::string& asked) {
  const codec::FileCompression compression = codec::compression_of(head.bytes);
  if (compression == codec::FileCompression::kNone) {
    return compression;
  }
  const capture::SourceFormat* const format = format_named(asked);
  const bool takes_it = format != nullptr ? static_cast<bool>(format->probe(head.view()))
                                          : ask_formats(head.view()).front().probe.answer ==
                                                capture::ProbeAnswer::kCertain;
  return takes_it ? codec::FileCompression::kNone : compression;
}

Result<bool> looks_like_capture(const std::string& path) {
  const io::FilesRead::LookOnly look_only;
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_source(path);
  if (!source) {
    if (source.error().code != ErrorCode::kUnsupported) {
      return no_capture_or(source.error());
    }
    const Result<OpenedDirectory> directory = open_directory(path);
    return directory ? Result<bool>(true) : no_capture_or(directory.error());
  }
  if ((*source)->seekable()) {
    const Result<std::unique_ptr<CaptureArchive>> archive = CaptureArchive::open(**source);
    if (!archive) {
      return no_capture_or(archive.error());
    }
    if (*archive != nullptr) {
      return (*archive)->count() != 0;
    }
  }
  const Result<HeadBytes> head = read_head(**source);
  if (!head) {
    return no_capture_or(head.error());
  }
  const codec::FileCompression compression = compression_around(*head, {});
  if (compression == codec::FileCompression::kGzip ||
      compression == codec::FileCompression::kZstd) {
    const Result<std::vector<std::byte>> content =
        codec::decompressed_head(head->bytes, compression, capture::kProbeBytes);
    return content ? Result<bool>(format_of({*content}) != nullptr) : content.error();
  }
  return format_of(head->view()) != nullptr;
}

Result<bool> is_packed(const std::string& path) {
  const io::FilesRead::LookOnly look_only;
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_regular_file(path);
  std::array<std::byte, spk::kHeaderBytes> head{};
  const Result<std::size_t> count = source ? (*source)->read_at(0, head) : source.error();
  return count ? Result<bool>(spk::looks_like_spk(std::span(head).first(*count)))
               : no_capture_or(count.error());
}

bool looks_like_packed(const std::string& path) {
  const Result<bool> packed = is_packed(path);
  return packed && *packed;
}

}  // namespace stackpack::app
