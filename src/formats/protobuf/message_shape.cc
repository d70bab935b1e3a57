#include "formats/protobuf/message_shape.h"

#include <algorithm>

#include "bytes/byte_cursor.h"
#include "formats/protobuf/message_view.h"

namespace stackpack::protobuf {

namespace {

const FieldShape* shape_of(const MessageShape& message, std::uint32_t number) {
  const auto found = std::find_if(message.fields.begin(), message.fields.end(),
                                  [&](const FieldShape& field) { return field.number == number; });
  return found == message.fields.end() ? nullptr : &*found;
}

bool takes(FieldKind kind, const FieldHead& head) {
  switch (kind) {
    case FieldKind::kNumber:
    case FieldKind::kFixed:
      return !head.has_bytes;
    case FieldKind::kNumbers:
      return true;
    case FieldKind::kBytes:
    case FieldKind::kMessage:
      return head.has_bytes;
  }
  return false;
}

}  // namespace

ShapeFit fit_of(std::span<const std::byte> head, const MessageShape& shape, bool whole) {
  ShapeFit fit;
  bytes::ByteCursor in(head, 0);
  while (in.remaining() != 0) {
    FieldHead field;
    const bool is_field = read_field_head(in, field);
    if (!in.ok()) {  // cut, unless a number has more bits than there are
      fit.fits = !whole && is_field && head.size() - in.position() < kMostHeadBytes;
      return fit;
    }
    const FieldShape* const known = is_field ? shape_of(shape, field.number) : nullptr;
    if (!is_field || (known != nullptr && !takes(known->kind, field))) {
      return fit;
    }
    const bool is_cut = field.has_bytes && field.value > in.remaining();
    if (is_cut && whole) {
      return fit;
    }
    const auto size = is_cut ? in.remaining() : static_cast<std::size_t>(field.value);
    const auto content = field.has_bytes ? in.read_bytes(size) : std::span<const std::byte>();
    fit.unknown += known == nullptr ? 1 : 0;
    if (known != nullptr && known->kind == FieldKind::kMessage) {
      const ShapeFit inner = fit_of(content, *known->message, !is_cut);
      if (!inner.fits) {
        return fit;
      }
      fit.unknown += inner.unknown;
    }
    fit.seen_bits |= field.number < 64 ? std::uint64_t{1} << field.number : 0;
  }
  fit.fits = true;
  return fit;
}

}  // namespace stackpack::protobuf
