// Layout: https://llvm.org/docs/PDB/MsfFile.html and Microsoft's microsoft-pdb (PDB/msf/msf.cpp).
#include "symbolize/pdb/msf_file.h"

#include <algorithm>
#include <array>
#include <bit>

#include "bytes/byte_text.h"

namespace stackpack::symbolize {

namespace {

constexpr std::string_view kMsfMagic{"Microsoft C/C++ MSF 7.00\r\n\x1a\x44\x53\0\0\0", 32};
constexpr std::string_view kOldMsfMagic = "Microsoft C/C++ program database 2.00";
constexpr std::string_view kMsfzMagic = "Microsoft MSFZ Container";
constexpr std::string_view kPortablePdbMagic = "BSJB";
constexpr std::size_t kSuperBlockSize = 56;
constexpr std::uint32_t kLeastBlockSize = 512;
constexpr std::uint32_t kMostBlockSize = 65536;
constexpr std::uint32_t kNoStreamSize = ~std::uint32_t{0};
constexpr std::size_t kRecordWindow = std::size_t{1} << 20;

std::uint64_t blocks_for(std::uint64_t size, std::uint32_t block_size) {
  return (size + block_size - 1) / block_size;
}

Status check_magic(std::string_view head) {
  if (head.starts_with(kMsfMagic)) {
    return {};
  }
  if (head.starts_with(kOldMsfMagic)) {
    return Error{ErrorCode::kUnsupported, 0,
                 "pdb: format 2.00, as linkers before Visual C++ 7 wrote it, is not read"};
  }
  if (head.starts_with(kMsfzMagic)) {
    return Error{ErrorCode::kUnsupported, 0, "pdb: a compressed MSFZ container is not read"};
  }
  if (head.starts_with(kPortablePdbMagic)) {
    return Error{ErrorCode::kUnsupported, 0,
                 "pdb: a portable PDB has lines of managed code only, and is not read"};
  }
  return Error{ErrorCode::kCorrupt, 0, "pdb: not an MSF 7.00 container"};
}

}  // namespace

Result<MsfFile> MsfFile::open(io::ByteSource& source) {
  std::array<std::byte, kSuperBlockSize> head{};
  const Result<std::size_t> got = source.read_at(0, head);
  if (!got) {
    return got.error();
  }
  const std::span<const std::byte> head_bytes = std::span(head).first(*got);
  if (const Status magic = check_magic(bytes::text_of(head_bytes)); !magic) {
    return magic.error();
  }
  bytes::ByteCursor in(head_bytes, 0);
  in.skip(kMsfMagic.size());
  MsfFile file;
  file.source_ = &source;
  file.block_size_ = in.read<std::uint32_t>();
  in.skip(4);  // which of the two maps of free blocks is in use
  file.block_count_ = in.read<std::uint32_t>();
  const std::uint64_t directory_size = in.read<std::uint32_t>();
  in.skip(4);
  const std::uint64_t map_block = in.read<std::uint32_t>();
  if (!in.ok()) {
    return in.truncated("pdb: superblock");
  }
  if (!std::has_single_bit(file.block_size_) || file.block_size_ < kLeastBlockSize ||
      file.block_size_ > kMostBlockSize) {
    return Error{ErrorCode::kCorrupt, 32, "pdb: superblock: size of a block"};
  }
  if (const Status opened = file.open_directory(directory_size, map_block); !opened) {
    return opened.error();
  }
  return file;
}

Status MsfFile::open_directory(std::uint64_t directory_size, std::uint64_t map_block) {
  const std::uint64_t file_size = source_->size().value_or(0);
  // A file that was cut is read as far as it goes: blocks past its end are errors when needed.
  const std::uint64_t room = blocks_for(file_size, block_size_);
  block_count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(block_count_, room));
  const std::uint64_t directory_blocks = blocks_for(directory_size, block_size_);
  const std::uint64_t map_offset = map_block * block_size_;
  if (directory_size > file_size || map_offset > file_size ||
      directory_blocks * 4 > file_size - map_offset) {
    return Error{ErrorCode::kTruncated, 44, "pdb: superblock: directory past the end of the file"};
  }
  std::vector<std::byte> map(static_cast<std::size_t>(directory_blocks * 4));
  if (const Status read = read_exactly_at(*source_, map_offset, map, "pdb: map of the directory");
      !read) {
    return read.error();
  }
  // The directory is read as a stream of its own.
  bytes::ByteCursor map_in(map, map_offset);
  streams_ = {{static_cast<std::uint32_t>(directory_size), 0}};
  while (map_in.remaining() != 0) {
    blocks_.push_back(map_in.read<std::uint32_t>());
  }
  std::vector<std::byte> directory;
  if (const Status read = this->read(0, 0, directory_size, directory); !read) {
    return read;
  }
  return read_directory(directory, file_offset(0, 0));
}

Status MsfFile::read_directory(std::span<const std::byte> directory, std::uint64_t file_offset) {
  streams_.clear();
  blocks_.clear();
  bytes::ByteCursor in(directory, file_offset);
  const auto count = in.read<std::uint32_t>();
  if (!in.ok() || count > in.remaining() / 4) {
    return in.corrupt("pdb: directory: number of streams");
  }
  streams_.reserve(count);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto size = in.read<std::uint32_t>();
    streams_.push_back({size == kNoStreamSize ? 0 : size, static_cast<std::size_t>(total)});
    total += blocks_for(streams_.back().size, block_size_);
  }
  if (total > block_count_ || total > in.remaining() / 4) {
    return in.corrupt("pdb: directory: streams are larger than the file");
  }
  blocks_.reserve(static_cast<std::size_t>(total));
  for (std::uint64_t i = 0; i < total; ++i) {
    blocks_.push_back(in.read<std::uint32_t>());
  }
  return {};
}

std::uint32_t MsfFile::stream_size(std::uint32_t stream) const {
  return stream < streams_.size() ? streams_[stream].size : 0;
}

std::uint64_t MsfFile::file_offset(std::uint32_t stream, std::uint64_t offset) const {
  if (offset >= stream_size(stream)) {
    return kNoOffset;
  }
  const std::size_t block =
      streams_[stream].first_block + static_cast<std::size_t>(offset / block_size_);
  return std::uint64_t{blocks_[block]} * block_size_ + offset % block_size_;
}

Status MsfFile::read(std::uint32_t stream, std::uint64_t offset, std::uint64_t size,
                     std::vector<std::byte>& into) const {
  into.clear();
  const std::uint64_t stream_bytes = stream_size(stream);
  if (offset > stream_bytes || size > stream_bytes - offset) {
    return Error{ErrorCode::kTruncated, file_offset(stream, offset),
                 "pdb: a stream is shorter than what it should hold"};
  }
  into.resize(static_cast<std::size_t>(size));
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t at = offset + done;
    const std::uint64_t start = file_offset(stream, at);
    std::uint64_t run = block_size_ - at % block_size_;
    // Blocks that follow each other in the file, too, are read at once.
    std::size_t block = streams_[stream].first_block + static_cast<std::size_t>(at / block_size_);
    while (run < into.size() - done && blocks_[block + 1] == blocks_[block] + 1) {
      run += block_size_;
      ++block;
    }
    const std::span<std::byte> part = std::span(into).subspan(
        done, static_cast<std::size_t>(std::min<std::uint64_t>(run, into.size() - done)));
    if (const Status read = read_exactly_at(*source_, start, part, "pdb: block of a stream");
        !read) {
      return read.error();
    }
    done += part.size();
  }
  return {};
}

Status each_pdb_record(const MsfFile& file, std::uint32_t stream, std::uint64_t begin,
                       std::uint64_t end, const std::function<bool(const PdbRecord&)>& visit) {
  std::vector<std::byte> window;
  end = std::min<std::uint64_t>(end, file.stream_size(stream));
  std::uint64_t position = begin;
  while (position < end) {
    const std::uint64_t size = std::min<std::uint64_t>(kRecordWindow, end - position);
    if (const Status read = file.read(stream, position, size, window); !read) {
      return read;
    }
    bytes::ByteCursor in(window, file.file_offset(stream, position));
    const bool last = position + size == end;
    while (in.remaining() >= 4) {
      const std::size_t start = in.position();
      const auto length = in.read<std::uint16_t>();
      if (length < 2) {
        return in.corrupt("pdb: length of a record");
      }
      if (length > in.remaining()) {
        if (last) {
          return in.corrupt("pdb: a record reaches past the end of its stream");
        }
        in.seek(start);
        break;
      }
      PdbRecord record{0, position + start, in.sub(length)};
      record.kind = record.body.read<std::uint16_t>();
      if (!visit(record)) {
        return {};
      }
    }
    if (last) {
      return {};
    }
    position += in.position();
  }
  return {};
}

}  // namespace stackpack::symbolize
