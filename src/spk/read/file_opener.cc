#include "spk/read/file_opener.h"

#include <algorithm>

#include "bytes/hash.h"
#include "spk/format/layout.h"
#include "spk/format/summary.h"

namespace stackpack::spk {

namespace {

// The second read: reaches back far enough for trailer, directory and summary of most files.
constexpr std::uint64_t kTailBytes = std::uint64_t{64} << 10;

// The end of the file in memory; whatever lies before it takes another read.
class Tail {
 public:
  explicit Tail(io::ByteSource& source) : source_(source) {}

  Status read(std::uint64_t file_bytes) {
    begin_ = file_bytes - std::min(file_bytes, kTailBytes);
    bytes_.resize(static_cast<std::size_t>(file_bytes - begin_));
    return io::read_exactly_at(source_, begin_, bytes_, "spk: file shrank while it was read");
  }

  // The range must lie inside the file. Valid until the next call.
  Result<std::span<const std::byte>> range(std::uint64_t offset, std::uint64_t size) {
    if (offset >= begin_) {
      return std::span<const std::byte>(bytes_).subspan(static_cast<std::size_t>(offset - begin_),
                                                        static_cast<std::size_t>(size));
    }
    other_.resize(static_cast<std::size_t>(size));
    if (const Status read = io::read_exactly_at(source_, offset, other_, "spk: file is cut");
        !read) {
      return read.error();
    }
    return std::span<const std::byte>(other_);
  }

 private:
  io::ByteSource& source_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> other_;
};

std::string section_name(std::uint32_t kind) {
  for (const SectionName& known : kSectionNames) {
    if (static_cast<std::uint32_t>(known.kind) == kind) {
      return std::string(known.name);
    }
  }
  return "unknown_" + std::to_string(kind);
}

void list_sections(const Trailer& trailer, OpenedFile& file) {
  file.sections.push_back({"header", kHeaderBytes, kHeaderBytes});
  for (const SectionRecord& section : file.directory.sections) {
    file.sections.push_back({section_name(section.kind), section.raw_bytes, section.stored_bytes});
  }
  file.sections.push_back({"directory", trailer.directory_bytes, trailer.directory_bytes});
  file.sections.push_back({"trailer", kTrailerBytes, kTrailerBytes});
}

Status read_summary(Tail& tail, codec::ZstdDecompressor& zstd, OpenedFile& file) {
  const SectionRecord* const section = file.directory.find(SectionKind::kSummary);
  if (section == nullptr || section->blocks.size() != 1 ||
      section->blocks.front().raw_bytes > kMaxSummaryBytes) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: directory: no summary"};
  }
  const auto stored = tail.range(section->offset, section->stored_bytes);
  if (!stored) {
    return stored.error();
  }
  const Error bad{ErrorCode::kCorrupt, section->offset, "spk: summary is damaged"};
  const BlockRecord& block = section->blocks.front();
  if (bytes::xxh3_64(stored.value()) != block.hash) {
    return bad;
  }
  std::vector<std::byte> content(block.raw_bytes);
  if (!zstd.decompress(stored.value(), content) ||
      !decode_summary(bytes::ByteCursor(content, 0), file.statistics, file.fingerprint)) {
    return bad;
  }
  return {};
}

// A reader reserves memory by the number of callstacks in the summary: it must be
// one that the file has the bytes for. (That it is the right one is seen when the pages are
// indexed.)
Status check_counts(const OpenedFile& file) {
  const SectionRecord* const pages = file.directory.find(SectionKind::kPages);
  const bool possible = pages != nullptr && pages->block_count <= pages->stored_bytes &&
                        pages->items / kNodesPerPage <= pages->block_count &&
                        file.statistics.callstacks.stored <= pages->items;
  return possible ? Status{}
                  : Status{Error{ErrorCode::kCorrupt, kNoOffset,
                                 "spk: summary: more callstacks than the file has room for"}};
}

}  // namespace

Status open_file(BlockReader& blocks, OpenedFile& file) {
  io::ByteSource& source = blocks.source();
  if (!source.seekable() || !source.size().has_value()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "spk: file cannot be read at an offset"};
  }
  file.file_bytes = *source.size();
  std::vector<std::byte> header(
      static_cast<std::size_t>(std::min<std::uint64_t>(kHeaderBytes, file.file_bytes)));
  if (const Status read = io::read_exactly_at(source, 0, header, "spk: header"); !read) {
    return read;
  }
  if (const Status checked = check_header(header); !checked) {
    return checked;
  }
  Tail tail(source);
  if (const Status read = tail.read(file.file_bytes); !read) {
    return read;
  }
  const std::uint64_t trailer_bytes = std::min<std::uint64_t>(kTrailerBytes, file.file_bytes);
  const auto trailer_range = tail.range(file.file_bytes - trailer_bytes, trailer_bytes);
  if (!trailer_range) {
    return trailer_range.error();
  }
  const Result<Trailer> trailer = decode_trailer(trailer_range.value(), file.file_bytes);
  if (!trailer) {
    return trailer.error();
  }
  const auto frame = tail.range(trailer->directory_offset, trailer->directory_bytes);
  if (!frame) {
    return frame.error();
  }
  Result<Directory> directory = decode_directory(frame.value(), trailer.value());
  if (!directory) {
    return directory.error();
  }
  file.directory = std::move(directory).value();
  list_sections(trailer.value(), file);
  BlockReader::Lease scratch = blocks.borrow();
  const Status summary = read_summary(tail, scratch->zstd, file);
  return summary ? check_counts(file) : summary;
}

}  // namespace stackpack::spk
