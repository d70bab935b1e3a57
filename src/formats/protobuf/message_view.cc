#include "formats/protobuf/message_view.h"
namespace stackpack::protobuf {

bool read_field_head(bytes::ByteCursor& in, FieldHead& head) {
  const std::uint64_t tag = in.read_varint();
  head = {};
  head.number = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      head.value = in.read_varint();
      return true;
    case 1:
      head.value = in.read<std::uint64_t>();
      return true;
    case 2:
      head.has_bytes = true;
      head.value = in.read_varint();
      return true;
    case 5:
      head.value = in.read<std::uint32_t>();
      return true;
    default:
      return false;
  }
}

}  // namespace stackpack::protobuf
