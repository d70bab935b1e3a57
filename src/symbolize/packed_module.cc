#include "symbolize/packed_module.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "codec/decompressed_source.h"
#include "io/byte_source.h"
#include "symbolize/xz_stream.h"

namespace stackpack::symbolize {

namespace {

using Bytes = std::vector<std::byte>;

codec::FileCompression packing_of(io::ByteSource& file) {
  std::array<std::byte, codec::kCompressionHeadBytes> head{};
  const Result<std::size_t> count = file.read_at(0, head);
  return count ? codec::compression_of(std::span(head).first(*count))
               : codec::FileCompression::kNone;
}

Result<Bytes> unpack_xz_file(io::ByteSource& file) {
  Bytes packed(static_cast<std::size_t>(
      std::min<std::uint64_t>(file.size().value_or(0), kMostUnpackedBytes)));
  if (const Status read = io::read_exactly_at(file, 0, packed, "xz: file is cut"); !read) {
    return read.error();
  }
  const std::string content = unpack_xz(packed);
  if (content.empty()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "xz: cannot be decompressed"};
  }
  const auto bytes = std::as_bytes(std::span(content));
  return Bytes(bytes.begin(), bytes.end());
}

}  // namespace

std::string_view without_packing(std::string_view path) {
  for (const std::string_view ending : {".xz", ".zst", ".gz"}) {
    if (path.ends_with(ending)) {
      return path.substr(0, path.size() - ending.size());
    }
  }
  return path;
}

bool is_module_file(std::string_view path) {
  return without_packing(path).ends_with(".ko");
}

bool is_packed_file(int descriptor) {
  const auto file = io::source_of_descriptor(descriptor);
  return packing_of(*file) != codec::FileCompression::kNone;
}

Result<Bytes> unpack_file(int descriptor) {
  auto file = io::source_of_descriptor(descriptor);
  const codec::FileCompression packing = packing_of(*file);
  if (packing == codec::FileCompression::kXz) {
    return unpack_xz_file(*file);
  }
  codec::StreamDamage damage;
  const auto plain = codec::decompressed_source(std::move(file), packing, damage);
  Bytes content;
  constexpr std::size_t kStep = std::size_t{1} << 20;
  while (content.size() < kMostUnpackedBytes) {
    const std::size_t had = content.size();
    content.resize(had + kStep);
    const Result<std::size_t> count = plain->read(std::span(content).subspan(had));
    if (!count) {
      return count.error();
    }
    content.resize(had + *count);
    if (*count == 0) {
      return damage.error ? Result<Bytes>(*damage.error) : Result<Bytes>(std::move(content));
    }
  }
  return Error{ErrorCode::kLimit, kNoOffset, "compressed file expands to too much data"};
}

}  // namespace stackpack::symbolize
