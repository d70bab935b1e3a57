#include "unwind/frame_section.h"

#include <algorithm>

#include "unwind/stack_expression.h"

namespace stackpack::unwind {

namespace {

// The low half of an encoding says how the number is written, the high half what it is relative to.
// Linux Standard Base, "DWARF Exception Header Encoding".
constexpr std::uint8_t kFormatMask = 0x0F;
constexpr std::uint8_t kBaseMask = 0x70;
constexpr std::uint8_t kIndirect = 0x80;
constexpr std::uint8_t kRelativeToPlace = 0x10;
constexpr std::uint8_t kRelativeToData = 0x30;

template <typename Signed, typename Unsigned>
std::uint64_t widened(Unsigned value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<Signed>(value)));
}

constexpr std::uint32_t kLongEntry = 0xFFFF'FFFF;  // the length is in the next 8 bytes

// The letters of an augmentation. No more is looked at than there can be: a CIE is read for each of
// its FDEs, and its text could be as long as the section.
std::string_view read_letters(bytes::ByteCursor& body) {
  constexpr std::size_t kMostLetters = 15;
  const std::span<const std::byte> rest = body.rest();
  bytes::ByteCursor head(rest.first(std::min(rest.size(), kMostLetters + 1)), 0);
  const std::string_view letters = head.read_c_string();
  body.skip(letters.size() > kMostLetters ? body.remaining() + 1 : letters.size() + 1);
  return letters;
}

}  // namespace

std::optional<std::uint64_t> read_encoded_size(bytes::ByteCursor& in, std::uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case 0x00:  // a word
    case 0x04:
    case 0x0C:
      return in.read<std::uint64_t>();
    case 0x01:
      return in.read_varint();
    case 0x02:
      return in.read<std::uint16_t>();
    case 0x03:
      return in.read<std::uint32_t>();
    case 0x09:
      return static_cast<std::uint64_t>(read_signed_varint(in));
    case 0x0A:
      return widened<std::int16_t>(in.read<std::uint16_t>());
    case 0x0B:
      return widened<std::int32_t>(in.read<std::uint32_t>());
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> read_encoded(bytes::ByteCursor& in, std::uint8_t encoding,
                                          const PointerBases& bases) {
  const std::uint64_t place = bases.section + in.position();
  const std::optional<std::uint64_t> number = read_encoded_size(in, encoding);
  if (!number || (encoding & kIndirect) != 0) {
    return std::nullopt;
  }
  switch (encoding & kBaseMask) {
    case 0:
      return number;
    case kRelativeToPlace:
      return *number + place;
    case kRelativeToData:
      return *number + bases.data;
    default:
      return std::nullopt;
  }
}

// Cursors run over the whole section up to the entry's end, so that a position is one in the
// section: pointers are relative to theirs.
std::optional<FrameSection::Entry> FrameSection::entry_at(std::uint64_t offset) const {
  bytes::ByteCursor in(bytes_, 0);
  in.seek(offset);
  std::uint64_t length = in.read<std::uint32_t>();
  const bool is_long = length == kLongEntry;
  if (is_long) {
    length = in.read<std::uint64_t>();
  }
  if (!in.ok() || length > in.remaining()) {
    return std::nullopt;
  }
  Entry entry;
  entry.next = in.position() + length;
  if (length == 0) {  // an end mark, after which linkers may have put more
    return entry;
  }
  const std::uint64_t reference_at = in.position();
  bytes::ByteCursor body(bytes_.first(static_cast<std::size_t>(entry.next)), 0);
  body.seek(reference_at);
  const std::uint64_t reference = is_long && format_ == FrameFormat::kDebugFrame
                                      ? body.read<std::uint64_t>()
                                      : body.read<std::uint32_t>();
  if (!body.ok()) {
    return std::nullopt;
  }
  if (format_ == FrameFormat::kEhFrame) {
    entry.is_cie = reference == 0;
    entry.cie = reference_at - reference;
  } else {
    entry.is_cie = reference == (is_long ? ~std::uint64_t{0} : kLongEntry);
    entry.cie = reference;
  }
  entry.body = body;
  return entry;
}

bool FrameSection::read_augmentation(std::string_view text, bytes::ByteCursor& body,
                                     Cie& cie) const {
  if (text.empty()) {
    return true;
  }
  if (text.front() != 'z') {
    return false;  // its size is not known
  }
  cie.has_augmentation = true;
  const std::uint64_t size = body.read_varint();
  const std::uint64_t end = body.position() + size;
  if (!body.ok() || size > body.remaining()) {
    return false;
  }
  for (const char letter : text.substr(1)) {
    switch (letter) {
      case 'R':
        cie.pointer_encoding = body.read<std::uint8_t>();
        break;
      case 'L':
        body.skip(1);
        break;
      case 'P':
        if (!read_encoded_size(body, body.read<std::uint8_t>())) {
          return false;
        }
        break;
      case 'S':
        cie.is_signal_frame = true;
        break;
      case 'B':  // the key that signs return addresses
      case 'G':  // memory tags
        break;
      default:
        return false;
    }
  }
  if (body.position() > end) {
    return false;
  }
  body.seek(end);
  return body.ok();
}

std::optional<Cie> FrameSection::cie_at(std::uint64_t offset) const {
  const std::optional<Entry> entry = entry_at(offset);
  if (!entry || !entry->is_cie) {
    return std::nullopt;
  }
  bytes::ByteCursor body = entry->body;
  const auto version = body.read<std::uint8_t>();
  if (version != 1 && version != 3 && version != 4) {
    return std::nullopt;
  }
  const std::string_view augmentation = read_letters(body);
  if (version == 4) {
    constexpr std::uint8_t kWord = 8;
    const auto address_bytes = body.read<std::uint8_t>();
    const auto segment_bytes = body.read<std::uint8_t>();
    if (address_bytes != kWord || segment_bytes != 0) {
      return std::nullopt;
    }
  }
  Cie cie;
  cie.code_alignment = body.read_varint();
  cie.data_alignment = read_signed_varint(body);
  cie.return_register = version == 1 ? body.read<std::uint8_t>() : body.read_varint();
  if (!read_augmentation(augmentation, body, cie) || !body.ok()) {
    return std::nullopt;
  }
  cie.program = body;
  return cie;
}

std::optional<Fde> FrameSection::fde_of(const Entry& entry) const {
  const std::optional<Cie> cie = cie_at(entry.cie);
  if (!cie) {
    return std::nullopt;
  }
  Fde fde;
  fde.cie = *cie;
  bytes::ByteCursor body = entry.body;
  const std::uint8_t encoding =
      format_ == FrameFormat::kEhFrame ? cie->pointer_encoding : kPointerAbsolute;
  const std::optional<std::uint64_t> begin = read_encoded(body, encoding, {address_, 0});
  const std::optional<std::uint64_t> size = read_encoded_size(body, encoding);
  if (cie->has_augmentation) {
    body.skip(body.read_varint());
  }
  if (!begin || !size || !body.ok()) {
    return std::nullopt;
  }
  fde.begin = *begin;
  fde.size = *size;
  fde.program = body;
  return fde;
}

std::optional<Fde> FrameSection::fde_at(std::uint64_t offset) const {
  const std::optional<Entry> entry = entry_at(offset);
  return entry && !entry->is_cie && entry->body.remaining() != 0 ? fde_of(*entry) : std::nullopt;
}

}  // namespace stackpack::unwind
