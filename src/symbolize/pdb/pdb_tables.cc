// Layout: https://llvm.org/docs/PDB (PdbStream, DbiStream) and Microsoft's microsoft-pdb.
#include "symbolize/pdb/pdb_tables.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "core/sort_rows.h"

namespace stackpack::symbolize {

namespace {

// Streams with a number of their own.
constexpr std::uint32_t kInfoStream = 1;
constexpr std::uint32_t kDbiStream = 3;

constexpr std::uint32_t kDbiSignature = 0xFFFFFFFF;
constexpr std::uint32_t kDbiVersion70 = 19990903;
constexpr std::size_t kDbiHeaderSize = 64;
constexpr std::uint32_t kContributionsV60 = 0xF12EBA2D;
constexpr std::uint32_t kContributionsV2 = 0xF13151E4;
constexpr std::uint32_t kNameTableSignature = 0xEFFEEFFE;
constexpr std::size_t kSectionHeaderSize = 40;

// Places in the list of streams that the DBI stream ends with.
constexpr std::size_t kOmapToSource = 3;
constexpr std::size_t kOmapFromSource = 4;
constexpr std::size_t kSectionHeaders = 5;
constexpr std::size_t kOriginalSectionHeaders = 10;

struct DbiSizes {
  std::uint32_t modules = 0;
  std::uint32_t contributions = 0;
  std::uint32_t section_map = 0;
  std::uint32_t sources = 0;
  std::uint32_t type_servers = 0;
  std::uint32_t debug_header = 0;
  std::uint32_t edit_and_continue = 0;
};

Result<std::vector<std::byte>> whole_stream(const MsfFile& file, std::uint32_t stream) {
  std::vector<std::byte> bytes;
  if (const Status read = file.read(stream, 0, file.stream_size(stream), bytes); !read) {
    return read.error();
  }
  return bytes;
}

// The stream that is called /names; kNoPdbStream when there is none.
std::uint32_t names_stream(bytes::ByteCursor& in) {
  const auto size = in.read<std::uint32_t>();
  const std::span<const std::byte> texts = in.read_bytes(size);
  in.skip(4);  // number of entries: the map says it again
  const auto buckets = in.read<std::uint32_t>();
  const auto present_words = in.read<std::uint32_t>();
  bytes::ByteCursor present = in.sub(std::uint64_t{present_words} * 4);
  const auto deleted_words = in.read<std::uint32_t>();
  in.skip(std::uint64_t{deleted_words} * 4);
  for (std::uint64_t bucket = 0; present.remaining() != 0; bucket += 32) {
    for (auto bits = present.read<std::uint32_t>(); bits != 0; bits &= bits - 1) {
      const auto key = in.read<std::uint32_t>();
      const auto stream = in.read<std::uint32_t>();
      if (!in.ok() || bucket >= buckets) {
        return kNoPdbStream;
      }
      bytes::ByteCursor text(texts, 0);
      text.seek(key);
      if (text.ok() && text.read_c_string() == "/names") {
        return stream;
      }
    }
  }
  return kNoPdbStream;
}

Status read_info(const MsfFile& file, PdbTables& tables) {
  const Result<std::vector<std::byte>> stream = whole_stream(file, kInfoStream);
  if (!stream) {
    return stream.error();
  }
  bytes::ByteCursor in(*stream, file.file_offset(kInfoStream, 0));
  in.skip(8);  // version, time stamp
  tables.info_age = in.read<std::uint32_t>();
  for (std::uint8_t& byte : tables.identity.guid) {
    byte = in.read<std::uint8_t>();
  }
  if (!in.ok()) {
    return in.truncated("pdb: stream 1: GUID and age");
  }
  const std::uint32_t names = names_stream(in);
  if (names == kNoPdbStream) {
    return {};
  }
  const Result<std::vector<std::byte>> texts = whole_stream(file, names);
  if (!texts) {
    return texts.error();
  }
  bytes::ByteCursor text_in(*texts, file.file_offset(names, 0));
  const bool known = text_in.read<std::uint32_t>() == kNameTableSignature;
  text_in.skip(4);  // version of the hash
  const auto size = text_in.read<std::uint32_t>();
  const std::span<const std::byte> found = text_in.read_bytes(size);
  if (!known || !text_in.ok()) {
    ++tables.damaged;
    return {};
  }
  tables.file_names = bytes::text_of(found);
  return {};
}

Status read_modules(bytes::ByteCursor in, std::vector<PdbModule>& modules) {
  while (in.remaining() >= kDbiHeaderSize) {
    const std::size_t start = in.position();
    in.skip(34);
    PdbModule module;
    module.stream = in.read<std::uint16_t>();
    module.symbol_bytes = in.read<std::uint32_t>();
    module.old_line_bytes = in.read<std::uint32_t>();
    module.line_bytes = in.read<std::uint32_t>();
    in.seek(start + kDbiHeaderSize);
    in.read_c_string();  // of the object file
    in.read_c_string();  // of its library
    in.seek(std::min(in.size(), (in.position() + 3) & ~std::size_t{3}));
    modules.push_back(module);
  }
  return in.remaining() == 0 ? Status{} : in.corrupt("pdb: DBI stream: modules");
}

// Section numbers of a contribution are resolved when the sections are known.
struct Contribution {
  std::uint16_t section = 0;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

Status read_contributions(bytes::ByteCursor in, std::vector<Contribution>& contributions) {
  if (in.remaining() == 0) {
    return {};
  }
  const auto version = in.read<std::uint32_t>();
  if (version != kContributionsV60 && version != kContributionsV2) {
    return in.corrupt("pdb: DBI stream: version of the section contributions");
  }
  const std::size_t entry_size = version == kContributionsV60 ? 28 : 32;
  while (in.remaining() >= entry_size) {
    bytes::ByteCursor entry = in.sub(entry_size);
    Contribution& contribution = contributions.emplace_back();
    contribution.section = entry.read<std::uint16_t>();
    entry.skip(2);
    contribution.offset = entry.read<std::uint32_t>();
    contribution.size = entry.read<std::uint32_t>();
  }
  return {};
}

Status read_sections(const MsfFile& file, std::uint16_t stream, std::vector<RvaRange>& sections) {
  const Result<std::vector<std::byte>> bytes = whole_stream(file, stream);
  if (!bytes) {
    return bytes.error();
  }
  bytes::ByteCursor in(*bytes, file.file_offset(stream, 0));
  while (in.remaining() >= kSectionHeaderSize) {
    bytes::ByteCursor header = in.sub(kSectionHeaderSize);
    header.skip(8);  // name
    RvaRange& section = sections.emplace_back();
    section.size = header.read<std::uint32_t>();
    section.start = header.read<std::uint32_t>();
  }
  return {};
}

Status read_omap(const MsfFile& file, std::uint16_t stream, std::vector<OmapEntry>& entries) {
  const Result<std::vector<std::byte>> bytes = whole_stream(file, stream);
  if (!bytes) {
    return bytes.error();
  }
  bytes::ByteCursor in(*bytes, file.file_offset(stream, 0));
  while (in.remaining() >= 8) {
    OmapEntry& entry = entries.emplace_back();
    entry.from = in.read<std::uint32_t>();
    entry.to = in.read<std::uint32_t>();
  }
  if (!std::is_sorted(entries.begin(), entries.end(),
                      [](const OmapEntry& a, const OmapEntry& b) { return a.from < b.from; })) {
    return in.corrupt("pdb: OMAP is not in ascending order");
  }
  return {};
}

Status read_debug_streams(const MsfFile& file, bytes::ByteCursor in, PdbTables& tables) {
  std::vector<std::uint16_t> streams;
  while (in.remaining() >= 2) {
    streams.push_back(in.read<std::uint16_t>());
  }
  const auto stream_at = [&](std::size_t place) {
    return place < streams.size() ? streams[place] : kNoPdbStream;
  };
  const bool moved =
      stream_at(kOmapFromSource) != kNoPdbStream && stream_at(kOmapToSource) != kNoPdbStream;
  const std::uint16_t original = stream_at(kOriginalSectionHeaders);
  if (moved && original == kNoPdbStream) {
    return Error{ErrorCode::kUnsupported, in.offset(),
                 "pdb: the code was moved after linking (OMAP), and the sections before are not in "
                 "the PDB"};
  }
  const std::uint16_t headers = moved ? original : stream_at(kSectionHeaders);
  if (headers == kNoPdbStream) {
    return Error{ErrorCode::kUnsupported, in.offset(), "pdb: has no section headers"};
  }
  if (const Status sections = read_sections(file, headers, tables.sections); !sections) {
    return sections;
  }
  return moved ? read_omap(file, stream_at(kOmapToSource), tables.to_source) : Status{};
}

void place_contributions(const std::vector<Contribution>& contributions, PdbTables& tables) {
  tables.contributions.reserve(contributions.size());
  for (const Contribution& contribution : contributions) {
    const std::optional<std::uint32_t> start =
        tables.rva_of(contribution.section, contribution.offset);
    if (start && contribution.size != 0 && contribution.size <= ~std::uint32_t{0} - *start) {
      tables.contributions.push_back({*start, contribution.size});
    }
  }
  core::sort_rows(tables.contributions, [](const RvaRange& a, const RvaRange& b) {
    return std::tuple(a.start, a.size) < std::tuple(b.start, b.size);
  });
}

DbiSizes read_dbi_header(bytes::ByteCursor& in, PdbTables& tables) {
  DbiSizes sizes;
  tables.identity.age = in.read<std::uint32_t>();
  in.skip(8);  // streams that find globals and publics by name, and the linker's version
  tables.symbol_stream = in.read<std::uint16_t>();
  in.skip(2);
  sizes.modules = in.read<std::uint32_t>();
  sizes.contributions = in.read<std::uint32_t>();
  sizes.section_map = in.read<std::uint32_t>();
  sizes.sources = in.read<std::uint32_t>();
  sizes.type_servers = in.read<std::uint32_t>();
  in.skip(4);
  sizes.debug_header = in.read<std::uint32_t>();
  sizes.edit_and_continue = in.read<std::uint32_t>();
  in.skip(8);  // flags, machine, padding
  return sizes;
}

Status read_dbi(const MsfFile& file, PdbTables& tables) {
  const Result<std::vector<std::byte>> stream = whole_stream(file, kDbiStream);
  if (!stream) {
    return stream.error();
  }
  bytes::ByteCursor in(*stream, file.file_offset(kDbiStream, 0));
  const auto signature = in.read<std::uint32_t>();
  const auto version = in.read<std::uint32_t>();
  const DbiSizes sizes = read_dbi_header(in, tables);
  if (!in.ok()) {
    return in.truncated("pdb: DBI stream: header");
  }
  if (signature != kDbiSignature || version < kDbiVersion70) {
    return Error{ErrorCode::kUnsupported, file.file_offset(kDbiStream, 0),
                 "pdb: the version of the DBI stream is not read"};
  }
  const bytes::ByteCursor modules = in.sub(sizes.modules);
  const bytes::ByteCursor contributions = in.sub(sizes.contributions);
  in.skip(sizes.section_map);
  in.skip(sizes.sources);
  in.skip(sizes.type_servers);
  in.skip(sizes.edit_and_continue);
  const bytes::ByteCursor debug_header = in.sub(sizes.debug_header);
  if (!in.ok()) {
    return in.truncated("pdb: DBI stream: its parts are larger than the stream");
  }
  if (const Status read = read_modules(modules, tables.modules); !read) {
    return read;
  }
  if (const Status read = read_debug_streams(file, debug_header, tables); !read) {
    return read;
  }
  std::vector<Contribution> found;
  if (const Status read = read_contributions(contributions, found); !read) {
    ++tables.damaged;
  }
  place_contributions(found, tables);
  return {};
}

}  // namespace

std::optional<std::uint32_t> PdbTables::rva_of(std::uint16_t section, std::uint32_t offset) const {
  if (section == 0 || section > sections.size()) {
    return std::nullopt;
  }
  const std::uint32_t start = sections[section - 1U].start;
  if (offset > ~std::uint32_t{0} - start) {
    return std::nullopt;
  }
  return start + offset;
}

Result<PdbTables> read_pdb_tables(const MsfFile& file) {
  PdbTables tables;
  if (const Status info = read_info(file, tables); !info) {
    return info.error();
  }
  if (const Status dbi = read_dbi(file, tables); !dbi) {
    return dbi.error();
  }
  return tables;
}

}  // namespace stackpack::symbolize
