#include "spk/write/section_writer.h"

#include <algorithm>
#include <utility>

#include "bytes/hash.h"
#include "spk/format/directory.h"

namespace stackpack::spk {

SectionWriter::SectionWriter(io::OutputFile& out, int level)
    : out_(out), begin_(out.offset()), level_(level), zstd_(level) {}

Status SectionWriter::begin_file() {
  return out_.write(encode_header());
}

void SectionWriter::begin_section(SectionKind kind) {
  const auto* const name = std::find_if(kSectionNames.begin(), kSectionNames.end(),
                                        [kind](const SectionName& n) { return n.kind == kind; });
  SectionRecord section;
  section.kind = static_cast<std::uint32_t>(kind);
  section.flags = (name->required ? kSectionRequired : 0) | (name->indexed ? kSectionIndexed : 0);
  section.offset = out_.offset() - begin_;
  directory_.sections.push_back(section);
}

Result<BlockRecord> SectionWriter::add_block(const BlockContent& content) {
  if (content.size() > kMaxBlockBytes) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: a row is too long for a block"};
  }
  const std::vector<std::span<const std::byte>> parts = content.parts();
  if (const Status done = zstd_.compress_parts(parts, frame_); !done) {
    return done.error();
  }
  const SectionRecord& section = directory_.sections.back();
  if (!keeps_table_bounds(static_cast<SectionKind>(section.kind),
                          section.stored_bytes + frame_.size(),
                          section.raw_bytes + content.size())) {
    codec::store_parts(parts, frame_);  // no reader would take it otherwise
  }
  return add_frame(frame_, static_cast<std::uint32_t>(content.size()));
}

Result<BlockRecord> SectionWriter::add_frame(std::span<const std::byte> frame,
                                             std::uint32_t raw_bytes) {
  if (const Status done = out_.write(frame); !done) {
    return done.error();
  }
  const BlockRecord record{static_cast<std::uint32_t>(frame.size()), raw_bytes,
                           bytes::xxh3_64(frame)};
  SectionRecord& section = directory_.sections.back();
  section.stored_bytes += record.stored_bytes;
  section.raw_bytes += record.raw_bytes;
  ++section.block_count;
  if ((section.flags & kSectionIndexed) == 0) {
    section.blocks.push_back(record);
  }
  return record;
}

void SectionWriter::end_section(std::uint64_t items) {
  directory_.sections.back().items = items;
}

Status SectionWriter::copy_section(const SectionRecord& section, io::ByteSource& file) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
  SectionRecord copy = section;
  copy.offset = out_.offset() - begin_;
  for (std::uint64_t done = 0; done < section.stored_bytes;) {
    frame_.resize(static_cast<std::size_t>(std::min(kStep, section.stored_bytes - done)));
    if (const Status read =
            io::read_exactly_at(file, section.offset + done, frame_, "spk: file is cut");
        !read) {
      return read;
    }
    if (const Status written = out_.write(frame_); !written) {
      return written;
    }
    done += frame_.size();
  }
  directory_.sections.push_back(std::move(copy));
  return {};
}

Status SectionWriter::finish_file() {
  const std::vector<std::byte> tail = encode_tail(directory_, out_.offset() - begin_);
  return out_.write(tail);
}

}  // namespace stackpack::spk
