#include "app/symbolize/renamed_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/convert/code_rows.h"
#include "app/convert/fingerprint.h"
#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"
#include "bytes/hash.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/read/block_reader.h"
#include "spk/read/file_opener.h"
#include "spk/write/name_writer.h"
#include "spk/write/section_writer.h"

namespace stackpack::app {

namespace {

constexpr int kLevel = 9;
constexpr unsigned kDigestDigits = 16;
constexpr std::uint64_t kTextNumberBytes = std::uint64_t{4} << 20;

// What the names that were written are, in short.
std::string digest_of(std::span<const spk::SectionRecord> sections) {
  bytes::ByteWriter content;
  for (const spk::SectionRecord& section : sections) {
    for (const spk::BlockRecord& block : section.blocks) {
      content.write(block.hash);
    }
  }
  std::string digest;
  bytes::append_hex(digest, bytes::xxh3_64(content.bytes()), kDigestDigits);
  return digest;
}

Status write_names(const Names& names, spk::SectionWriter& sections) {
  spk::NameWriter writer(sections, io::temporary_directory(), kTextNumberBytes);
  const Status added = write_rows(names, writer);
  return added ? writer.end() : added;
}

Status write_summary(const spk::SectionRecord& section, std::string_view digest,
                     spk::BlockReader& blocks, spk::SectionWriter& sections) {
  spk::BlockReader::Lease scratch = blocks.borrow();
  const auto content = blocks.read(section.offset, section.blocks.front(), *scratch);
  if (!content) {
    return content.error();
  }
  // Of a file that nothing stands for, nothing does when it has names.
  const auto patched = with_fingerprint(*content, [digest](const std::string& before) {
    return before.empty() ? before : named_fingerprint(conversion_fingerprint(before), digest);
  });
  if (!patched) {
    return patched.error();
  }
  spk::BlockContent block;
  block.bytes().write_bytes(*patched);
  sections.begin_section(spk::SectionKind::kSummary);
  if (const auto record = sections.add_block(block); !record) {
    return record.error();
  }
  sections.end_section(1);
  return {};
}

}  // namespace

bool is_section_of_names(const spk::SectionRecord& section) {
  return std::any_of(spk::kNameSections.begin(), spk::kNameSections.end(),
                     [&section](spk::SectionKind kind) {
                       return section.kind == static_cast<std::uint32_t>(kind);
                     });
}

Result<std::vector<std::byte>> with_fingerprint(
    std::span<const std::byte> summary,
    const std::function<std::string(const std::string&)>& renew) {
  bytes::ByteCursor in(summary, 0);
  const std::uint64_t numbers = in.read_varint();
  if (numbers > in.remaining() / sizeof(std::uint64_t)) {
    return in.corrupt("spk: summary is damaged");
  }
  in.skip(numbers * sizeof(std::uint64_t));
  in.skip(in.read_varint());  // source kind
  const std::size_t before = in.position();
  std::string fingerprint;
  for (const std::byte byte : in.read_bytes(in.read_varint())) {
    fingerprint.push_back(static_cast<char>(byte));
  }
  if (!in.ok()) {
    return in.corrupt("spk: summary is damaged");
  }
  fingerprint = renew(fingerprint);
  bytes::ByteWriter out;
  out.write_bytes(summary.first(before));
  out.write_varint(fingerprint.size());
  out.write_text(fingerprint);
  out.write_bytes(in.rest());
  return out.take();
}

Status write_renamed(const std::string& input, const Names& names, io::OutputFile& out) {
  Result<std::unique_ptr<io::ByteSource>> source = io::open_source(input);
  if (!source) {
    return source.error();
  }
  spk::BlockReader blocks(std::move(*source));
  spk::OpenedFile file;
  if (const Status opened = spk::open_file(blocks, file); !opened) {
    return opened;
  }
  spk::SectionWriter sections(out, kLevel);
  if (const Status begun = sections.begin_file(); !begun) {
    return begun;
  }
  bool named = false;
  for (const spk::SectionRecord& section : file.directory.sections) {
    if (is_section_of_names(section)) {
      continue;
    }
    std::string digest;
    const bool summary = section.kind == static_cast<std::uint32_t>(spk::SectionKind::kSummary);
    if (summary) {
      const std::size_t before = sections.sections().size();
      if (const Status written = write_names(names, sections); !written) {
        return written;
      }
      digest = digest_of(std::span(sections.sections()).subspan(before));
      named = true;
    }
    const Status written = summary ? write_summary(section, digest, blocks, sections)
                                   : sections.copy_section(section, blocks.source());
    if (!written) {
      return written;
    }
  }
  if (!named) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: directory: no summary"};
  }
  return sections.finish_file();
}

}  // namespace stackpack::app
