#include "formats/perf/file_header.h"

#include <algorithm>
#include <string_view>

namespace stackpack::perf {

namespace {

constexpr std::uint64_t kOldHeaderBytes = 72;
constexpr std::uint64_t kHeaderBytes = 104;
constexpr unsigned kHostnameBit = 3;

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
}

FileSection read_section(bytes::ByteCursor& in) {
  FileSection section;
  section.offset = in.read<std::uint64_t>();
  section.size = in.read<std::uint64_t>();
  return section;
}

template <typename Word>
std::bitset<256> read_bitmap(bytes::ByteCursor in) {
  std::bitset<256> bits;
  constexpr unsigned kBits = 8 * sizeof(Word);
  for (unsigned word = 0; word < 256 / kBits; ++word) {
    const auto value = in.read<Word>();
    for (unsigned bit = 0; bit < kBits; ++bit) {
      bits[word * kBits + bit] = ((value >> bit) & 1) != 0;
    }
  }
  return bits;
}

// The bitmap is an array of unsigned long: a big-endian writer of 32 bits puts the words of a pair
// the other way round. Every recorder writes its host name, so that bit shows which it was.
std::bitset<256> read_features(const bytes::ByteCursor& in) {
  const std::bitset<256> wide = read_bitmap<std::uint64_t>(in);
  if (wide[kHostnameBit] || in.order() == bytes::ByteOrder::kLittle) {
    return wide;
  }
  const std::bitset<256> narrow = read_bitmap<std::uint32_t>(in);
  return narrow[kHostnameBit] ? narrow : wide;
}

}  // namespace

FileMagic read_magic(std::span<const std::byte> head) {
  FileMagic magic;
  const bool first_version = begins_with(head, "PERFFILE");
  if (begins_with(head, "2ELIFREP")) {
    magic.order = bytes::ByteOrder::kBig;
  } else if (!begins_with(head, "PERFILE2") && !first_version) {
    return magic;
  }
  magic.container = Container::kFile;
  bytes::ByteCursor size(head, 0, magic.order);
  size.skip(8);
  magic.header_size = size.read<std::uint64_t>();
  if (first_version && magic.header_size > 0xffff) {
    // The first version's magic is the same in both byte orders; the size is a small number.
    magic.order = bytes::ByteOrder::kBig;
    magic.header_size = bytes::byte_swap(magic.header_size);
  }
  if (magic.header_size == kPipeHeaderBytes) {
    magic.container = Container::kPipe;
  }
  return magic;
}

Container detect(std::span<const std::byte> head) {
  return read_magic(head.first(std::min(head.size(), kDetectBytes))).container;
}

Result<FileHeader> read_file_header(io::ByteSource& source, const FileMagic& magic) {
  if (magic.header_size != kOldHeaderBytes && magic.header_size != kHeaderBytes) {
    return magic.header_size == 0
               ? Error{ErrorCode::kTruncated, 8, "perf: header: the file ends inside it"}
               : Error{ErrorCode::kUnsupported, 8, "perf: header: unknown header size"};
  }
  std::array<std::byte, kHeaderBytes> bytes{};
  const auto size = static_cast<std::size_t>(magic.header_size);
  const std::span<std::byte> present = std::span<std::byte>(bytes).first(size);
  const Status read =
      io::read_exactly_at(source, 0, present, "perf: header: the file ends inside it");
  if (!read) {
    return read.error();
  }
  bytes::ByteCursor in(present, 0, magic.order);
  in.skip(16);
  FileHeader header;
  header.header_size = magic.header_size;
  header.attr_entry_size = in.read<std::uint64_t>();
  header.attrs = read_section(in);
  header.data = read_section(in);
  header.event_types = read_section(in);
  if (magic.header_size == kHeaderBytes) {
    header.features = read_features(in);
  }
  return header;
}

}  // namespace stackpack::perf
