// Layout: Microsoft's "PE Format".
#include "symbolize/windows/pe_image.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"
#include "core/sort_rows.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint16_t kDosMagic = 0x5A4D;
constexpr std::uint32_t kPeMagic = 0x4550;
constexpr std::uint16_t kMagic32 = 0x10B;
constexpr std::uint16_t kMagic64 = 0x20B;
constexpr std::uint16_t kMachineX64 = 0x8664;
constexpr std::uint32_t kRsds = 0x53445352;
constexpr std::uint32_t kCodeView = 2;
constexpr std::size_t kCoffSize = 24;  // with the signature
constexpr std::size_t kSectionEntrySize = 40;
constexpr std::size_t kDebugEntrySize = 28;
constexpr std::size_t kRsdsSize = 24;
constexpr std::size_t kFunctionEntrySize = 12;
constexpr std::uint32_t kMostPathBytes = 4096;
constexpr std::uint32_t kMostDebugBytes = 64 * kDebugEntrySize;

// Places in the list of directories.
constexpr std::size_t kExportDirectory = 0;
constexpr std::size_t kFunctionDirectory = 3;
constexpr std::size_t kDebugDirectory = 6;
constexpr std::size_t kCliDirectory = 14;

using Bytes = std::vector<std::byte>;

// Bytes of the file; fewer where it ends.
Result<Bytes> read_up_to(io::ByteSource& file, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t file_size = file.size().value_or(0);
  const std::uint64_t room = offset < file_size ? file_size - offset : 0;
  Bytes bytes(static_cast<std::size_t>(std::min(size, room)));
  const Result<std::size_t> got = file.read_at(offset, bytes);
  if (!got) {
    return got.error();
  }
  bytes.resize(*got);
  return bytes;
}

Status read_pdb_reference(io::ByteSource& file, std::uint32_t size, std::uint32_t offset,
                          PeImage& image) {
  if (size < kRsdsSize) {
    return {};
  }
  const Result<Bytes> bytes =
      read_up_to(file, offset, std::min<std::uint32_t>(size, kRsdsSize + kMostPathBytes));
  if (!bytes) {
    return bytes.error();
  }
  bytes::ByteCursor in(*bytes, offset);
  if (in.read<std::uint32_t>() != kRsds) {
    return {};
  }
  PdbReference pdb;
  for (std::uint8_t& byte : pdb.identity.guid) {
    byte = in.read<std::uint8_t>();
  }
  pdb.identity.age = in.read<std::uint32_t>();
  pdb.path = in.read_c_string();
  if (in.ok()) {
    image.pdbs.push_back(std::move(pdb));
  }
  return {};
}

Status read_debug_directory(io::ByteSource& file, const PeImage::Directory& debug, PeImage& image) {
  const Result<Bytes> bytes =
      read_pe_bytes(file, image, debug.rva, std::min(debug.size, kMostDebugBytes));
  if (!bytes) {
    return bytes.error();
  }
  bytes::ByteCursor in(*bytes, 0);
  while (in.remaining() >= kDebugEntrySize) {
    bytes::ByteCursor entry = in.sub(kDebugEntrySize);
    entry.skip(12);  // flags, time, version
    const auto type = entry.read<std::uint32_t>();
    const auto size = entry.read<std::uint32_t>();
    entry.skip(4);
    const auto offset = entry.read<std::uint32_t>();
    if (type == kCodeView) {
      if (const Status read = read_pdb_reference(file, size, offset, image); !read) {
        return read;
      }
    }
  }
  return {};
}

/// One function of the table of functions.
struct FunctionBounds {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

Result<std::vector<FunctionBounds>> read_functions(io::ByteSource& file, const PeImage& image) {
  const Result<Bytes> bytes = read_pe_bytes(file, image, image.functions.rva, image.functions.size);
  if (!bytes) {
    return bytes.error();
  }
  std::vector<FunctionBounds> functions;
  functions.reserve(bytes->size() / kFunctionEntrySize);
  bytes::ByteCursor in(*bytes, 0);
  while (in.remaining() >= kFunctionEntrySize) {
    const auto begin = in.read<std::uint32_t>();
    const auto end = in.read<std::uint32_t>();
    in.skip(4);  // how to unwind
    if (begin < end) {
      functions.push_back({begin, end});
    }
  }
  core::sort_rows(functions, [](const FunctionBounds& a, const FunctionBounds& b) {
    return a.begin < b.begin;
  });
  return functions;
}

// Names of exported functions by RVA: of several the shortest, then the first by bytes.
using ExportNames = std::map<std::uint32_t, std::string>;

void add_export(ExportNames& exports, std::uint32_t rva, std::string_view name) {
  const auto [known, fresh] = exports.try_emplace(rva, name);
  if (!fresh && std::pair(name.size(), name) <
                    std::pair(known->second.size(), std::string_view(known->second))) {
    known->second = name;
  }
}

Result<ExportNames> read_export_names(io::ByteSource& file, const PeImage& image) {
  constexpr std::uint32_t kToTheEnd = ~std::uint32_t{0};
  ExportNames exports;
  const std::uint32_t base = image.exports.rva;
  // Tables and names lie behind the directory's header, in the same section.
  const Result<Bytes> bytes = read_pe_bytes(file, image, base, kToTheEnd);
  if (!bytes) {
    return bytes.error();
  }
  bytes::ByteCursor in(*bytes, 0);
  in.skip(20);  // flags, time, version, name, first ordinal
  const auto function_count = in.read<std::uint32_t>();
  const auto name_count = in.read<std::uint32_t>();
  const auto functions_rva = in.read<std::uint32_t>();
  const auto names_rva = in.read<std::uint32_t>();
  const auto ordinals_rva = in.read<std::uint32_t>();
  const auto part = [&](std::uint32_t rva, std::uint64_t size) {
    bytes::ByteCursor cursor(*bytes, 0);
    cursor.seek(rva >= base ? rva - base : bytes->size());
    return cursor.sub(size);
  };
  const bytes::ByteCursor functions = part(functions_rva, std::uint64_t{function_count} * 4);
  bytes::ByteCursor names = part(names_rva, std::uint64_t{name_count} * 4);
  bytes::ByteCursor ordinals = part(ordinals_rva, std::uint64_t{name_count} * 2);
  if (!in.ok() || !functions.ok() || !names.ok() || !ordinals.ok()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "pe: table of exports"};
  }
  for (std::uint32_t i = 0; i < name_count; ++i) {
    bytes::ByteCursor entry = functions;
    entry.seek(std::uint64_t{ordinals.read<std::uint16_t>()} * 4);
    const auto rva = entry.read<std::uint32_t>();
    bytes::ByteCursor text = part(names.read<std::uint32_t>(), 0);
    const bool forwarded = rva >= base && rva - base < image.exports.size;
    if (!entry.ok() || !text.ok() || forwarded) {
      continue;
    }
    bytes::ByteCursor rest(*bytes, 0);
    rest.seek(text.offset());
    const std::string_view name = rest.read_c_string();
    if (!name.empty() && name.size() <= kMostPathBytes) {
      add_export(exports, rva, name);
    }
  }
  return exports;
}

using Directories = std::array<PeImage::Directory, kCliDirectory + 1>;

// Where the PE header is: the header of a DOS program, which stands before it, says so.
Result<std::uint64_t> find_pe_header(io::ByteSource& file) {
  constexpr std::uint64_t kHeaderPlace = 0x3C;
  const Result<Bytes> dos = read_up_to(file, 0, kHeaderPlace + 4);
  if (!dos) {
    return dos.error();
  }
  bytes::ByteCursor dos_in(*dos, 0);
  if (dos_in.read<std::uint16_t>() != kDosMagic) {
    return Error{ErrorCode::kUnsupported, 0, "pe: not a PE file"};
  }
  dos_in.seek(kHeaderPlace);
  return std::uint64_t{dos_in.read<std::uint32_t>()};
}

// The optional header, which every image has. `at`: its place in the file.
Status read_optional_header(bytes::ByteCursor optional, std::uint64_t at, PeImage& image,
                            Directories& directories) {
  const auto magic = optional.read<std::uint16_t>();
  if (magic != kMagic32 && magic != kMagic64) {
    return Error{ErrorCode::kUnsupported, at, "pe: not an image: it has no optional header"};
  }
  optional.seek(56);
  image.image_size = optional.read<std::uint32_t>();
  optional.seek(magic == kMagic32 ? 92 : 108);
  const auto directory_count = optional.read<std::uint32_t>();
  for (std::size_t i = 0; i < directories.size() && i < directory_count; ++i) {
    directories[i].rva = optional.read<std::uint32_t>();
    directories[i].size = optional.read<std::uint32_t>();
  }
  return optional.ok() ? Status() : Status(optional.truncated("pe: optional header"));
}

}  // namespace

Result<std::vector<std::byte>> read_pe_bytes(io::ByteSource& file, const PeImage& image,
                                             std::uint32_t rva, std::uint32_t size) {
  for (const PeSection& section : image.sections) {
    if (rva >= section.rva && rva - section.rva < section.size) {
      const std::uint32_t at = rva - section.rva;
      return read_up_to(file, std::uint64_t{section.file_offset} + at,
                        std::min(size, section.size - at));
    }
  }
  return Bytes();
}

namespace {

void read_section_table(bytes::ByteCursor& in, std::vector<PeSection>& sections) {
  while (in.remaining() >= kSectionEntrySize) {
    bytes::ByteCursor entry = in.sub(kSectionEntrySize);
    entry.skip(12);  // name, size in memory
    PeSection& section = sections.emplace_back();
    section.rva = entry.read<std::uint32_t>();
    section.size = entry.read<std::uint32_t>();
    section.file_offset = entry.read<std::uint32_t>();
  }
}

}  // namespace

Result<PeImage> read_pe_image(io::ByteSource& file) {
  const Result<std::uint64_t> found = find_pe_header(file);
  if (!found) {
    return found.error();
  }
  const std::uint64_t header = *found;
  const Result<Bytes> coff = read_up_to(file, header, kCoffSize);
  if (!coff) {
    return coff.error();
  }
  bytes::ByteCursor in(*coff, header);
  PeImage image;
  if (in.read<std::uint32_t>() != kPeMagic) {
    return Error{ErrorCode::kUnsupported, header, "pe: not a PE file"};
  }
  image.machine = in.read<std::uint16_t>();
  const std::uint64_t section_count = in.read<std::uint16_t>();
  image.timestamp = in.read<std::uint32_t>();
  in.skip(8);
  const std::uint64_t optional_size = in.read<std::uint16_t>();
  if (!in.ok()) {
    return in.truncated("pe: header");
  }
  const std::uint64_t rest = header + kCoffSize;
  const Result<Bytes> tables =
      read_up_to(file, rest, optional_size + section_count * kSectionEntrySize);
  if (!tables) {
    return tables.error();
  }
  bytes::ByteCursor table_in(*tables, rest);
  Directories directories{};
  const bytes::ByteCursor optional = table_in.sub(optional_size);
  if (const Status read = read_optional_header(optional, rest, image, directories); !read) {
    return read.error();
  }
  read_section_table(table_in, image.sections);
  image.exports = directories[kExportDirectory];
  image.functions = directories[kFunctionDirectory];
  image.cli = directories[kCliDirectory];
  if (const Status read = read_debug_directory(file, directories[kDebugDirectory], image); !read) {
    return read.error();
  }
  return image;
}

bool has_export_ends(const PeImage& image) {
  return image.exports.size != 0 && image.machine == kMachineX64 && image.functions.size != 0;
}

Status read_pe_exports(io::ByteSource& file, const PeImage& image, const SymbolRequest& request,
                       NameCollector& names) {
  if (image.exports.size == 0) {
    return {};
  }
  if (!has_export_ends(image)) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "pe: without a table of functions nothing says where an export ends"};
  }
  const Result<std::vector<FunctionBounds>> functions = read_functions(file, image);
  if (!functions) {
    return functions.error();
  }
  const Result<ExportNames> exports = read_export_names(file, image);
  if (!exports) {
    return exports.error();
  }
  std::uint64_t named_up_to = 0;
  for (const std::uint64_t address : request.addresses) {
    if (address < named_up_to) {
      continue;
    }
    const auto after = std::upper_bound(
        functions->begin(), functions->end(), address,
        [](std::uint64_t wanted, const FunctionBounds& row) { return wanted < row.begin; });
    if (after == functions->begin() || address >= (after - 1)->end) {
      continue;
    }
    const FunctionBounds& bounds = *(after - 1);
    const auto known = exports->find(bounds.begin);
    if (known == exports->end() || known->second.empty()) {
      continue;
    }
    Function row;
    row.owner = FunctionOwner::kImage;
    row.start = bounds.begin;
    row.size = bounds.end - bounds.begin;
    row.source = FunctionSource::kPeExport;
    row.name = names.text(known->second);
    names.add_function(row);
    named_up_to = bounds.end;
  }
  return {};
}

}  // namespace stackpack::symbolize
