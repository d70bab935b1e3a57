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

/// What a compressed section says of itself.
struct PackedSection {
  bool is_zstd = false;
  std::uint64_t plain_bytes = 0;
  std::span<const std::byte> frame;
};

PackedSection read_packed(std::span<const std::byte> section, std::uint64_t offset,
                          const ElfIdentity& elf) {
  ByteCursor in(section, offset, elf.order);
  const auto type = in.read<std::uint32_t>();
  if (elf.is_64_bit) {
    in.read<std::uint32_t>();
  }
  PackedSection packed;
  packed.plain_bytes = elf.is_64_bit ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
  in.skip(elf.is_64_bit ? sizeof(std::uint64_t) : sizeof(std::uint32_t));  // alignment
  packed.is_zstd = in.ok() && type == kZstd;
  packed.frame = in.rest();
  return packed;
}

/// Puts plain sections at the end of a file.
class SectionUnpacker {
 public:
  SectionUnpacker(Bytes& file, const ElfIdentity& elf, std::size_t most)
      : file_(file), elf_(elf), most_(most), stored_bytes_(file.size()) {}

  /// False when the section at that header is compressed with zstd and stays so.
  bool unpack(std::size_t header) {
    const Fields fields = fields_of(header, elf_.is_64_bit);
    const std::uint64_t flags = number_at(file_, fields.flags, fields.width, elf_.order);
    const std::uint64_t offset = number_at(file_, fields.offset, fields.width, elf_.order);
    const std::uint64_t stored = number_at(file_, fields.size, fields.width, elf_.order);
    if ((flags & SHF_COMPRESSED) == 0 || offset > stored_bytes_ ||
        stored > stored_bytes_ - offset) {
      return true;
    }
    const PackedSection packed =
        read_packed(std::span<const std::byte>(file_).subspan(static_cast<std::size_t>(offset),
                                                              static_cast<std::size_t>(stored)),
                    offset, elf_);
    if (!packed.is_zstd) {
      return true;
    }
    const std::uint64_t plain = packed.plain_bytes;
    if (plain > most_ || file_.size() > most_ - plain) {
      return false;
    }
    content_.resize(static_cast<std::size_t>(plain));
    if (!zstd_.decompress(packed.frame, content_)) {
      return false;
    }
    constexpr std::size_t kAlignment = 16;
    file_.resize((file_.size() + kAlignment - 1) / kAlignment * kAlignment);
    put_number(file_, fields.flags, fields.width, elf_.order,
               flags & ~std::uint64_t{SHF_COMPRESSED});
    put_number(file_, fields.offset, fields.width, elf_.order, file_.size());
    put_number(file_, fields.size, fields.width, elf_.order, plain);
    file_.insert(file_.end(), content_.begin(), content_.end());
    return true;
  }

 private:
  Bytes& file_;
  const ElfIdentity& elf_;
  std::size_t most_;
  std::uint64_t stored_bytes_;
  codec::ZstdDecompressor zstd_;
  Bytes content_;
};

}  // namespace

std::vector<std::byte> without_zstd_sections(io::ByteSource& file, const ElfIdentity& elf,
                                             std::size_t most, std::uint64_t& damaged) {
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
  SectionUnpacker unpacker(bytes, elf, most);
  for (std::uint32_t i = 0; i < elf.sections.count; ++i) {
    const auto header =
        static_cast<std::size_t>(elf.sections.offset) + std::size_t{i} * elf.sections.entry_bytes;
    damaged += unpacker.unpack(header) ? 0U : 1U;
  }
  return bytes;
}

}  // namespace stackpack::symbolize
