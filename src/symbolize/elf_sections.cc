#include "symbolize/elf_sections.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include <elf.h>

#include "bytes/byte_cursor.h"
#include "codec/zstd_codec.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which older headers lack

/// Fields of a section header that change.
struct Fields {
  std::size_t flags = 0;  // where they are
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t width = 0;  // bytes of each
};

Fields fields_of(std::size_t header, bool is_64_bit) {
  return is_64_bit ? Fields{header + 8, header + 24, header + 32, 8}
                   : Fields{header + 8, header + 16, header + 20, 4};
}

std::uint64_t number_at(const Bytes& file, std::size_t at, std::size_t width,
                        bytes::ByteOrder order) {
  ByteCursor in(std::span(file.data(), file.size()).subspan(at), at, order);
  return width == 8 ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
}

void put_number(Bytes& file, std::size_t at, std::size_t width, bytes::ByteOrder order,
                std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = order == bytes::ByteOrder::kLittle ? i : width - 1 - i;
    file[at + place] = static_cast<std::byte>(value >> (8 * i));
  }
}

}  // namespace

std::vector<std::byte> without_zstd_sections(io::ByteSource& file, const ElfIdentity& elf,
                                             std::size_t most) {
  const std::uint64_t size = file.size().value_or(0);
  const std::size_t header_bytes = elf.is_64_bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  const std::uint64_t table_bytes = std::uint64_t{elf.sections.count} * elf.sections.entry_bytes;
  if (!elf.has_zstd || size > most || elf.sections.entry_bytes < header_bytes ||
      elf.sections.offset > size || table_bytes > size - elf.sections.offset) {
    return {};
  }
  Bytes bytes(static_cast<std::size_t>(size));
  if (!io::read_exactly_at(file, 0, bytes, "elf: file is cut")) {
    return {};
  }
  codec::ZstdDecompressor zstd;
  Bytes content;
  for (std::uint32_t i = 0; i < elf.sections.count; ++i) {
    const auto header =
        static_cast<std::size_t>(elf.sections.offset) + std::size_t{i} * elf.sections.entry_bytes;
    const Fields fields = fields_of(header, elf.is_64_bit);
    const std::uint64_t flags = number_at(bytes, fields.flags, fields.width, elf.order);
    const std::uint64_t offset = number_at(bytes, fields.offset, fields.width, elf.order);
    const std::uint64_t stored = number_at(bytes, fields.size, fields.width, elf.order);
    if ((flags & SHF_COMPRESSED) == 0 || offset > size || stored > size - offset) {
      continue;
    }
    const std::span<const std::byte> section = std::span<const std::byte>(bytes).subspan(
        static_cast<std::size_t>(offset), static_cast<std::size_t>(stored));
    ByteCursor in(section, offset, elf.order);
    const auto type = in.read<std::uint32_t>();
    if (elf.is_64_bit) {
      in.read<std::uint32_t>();
    }
    const std::uint64_t plain = elf.is_64_bit ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
    in.skip(fields.width);  // alignment
    if (!in.ok() || type != kZstd || plain > most || bytes.size() > most - plain) {
      continue;
    }
    content.resize(static_cast<std::size_t>(plain));
    if (!zstd.decompress(in.rest(), content)) {
      continue;
    }
    constexpr std::size_t kAlignment = 16;
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    put_number(bytes, fields.flags, fields.width, elf.order,
               flags & ~std::uint64_t{SHF_COMPRESSED});
    put_number(bytes, fields.offset, fields.width, elf.order, bytes.size());
    put_number(bytes, fields.size, fields.width, elf.order, plain);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  return bytes;
}

}  // namespace stackpack::symbolize
