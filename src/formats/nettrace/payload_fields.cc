#include "formats/nettrace/payload_fields.h"

#include <string>
#include <utility>

#include "bytes/utf8.h"
#include "bytes/wide_text.h"
#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

using capture::PayloadExtent;
using capture::PayloadField;
using capture::PayloadSchema;
using capture::PayloadType;

enum TypeCodes : std::uint32_t {
  kObject = 1,
  kBoolean = 3,
  kChar = 4,
  kDecimal = 15,
  kDateTime = 16,
  kGuid = 17,
  kString = 18,
  kArray = 19,
  kVarInt = 20,
  kVarUInt = 21,
  kFixedArray = 22,
  kUtf8Unit = 23,
  kRelLoc = 24,
  kDataLoc = 25,
};

// Reads one description.
class SchemaReader {
 public:
  SchemaReader(std::uint32_t version, std::string_view provider)
      : newest_(version >= 6), universal_(provider.starts_with("Universal.")) {}

  // A list of the layout that `tagged` says; false: it cannot be read.
  bool list(bytes::ByteCursor& in, PayloadSchema& schema, bool tagged, unsigned depth) {
    const std::uint32_t count = newest_ ? in.read<std::uint16_t>() : in.read<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
      if (++fields_ > capture::kMostPayloadFields || depth > capture::kMostPayloadDepth) {
        return false;
      }
      schema.emplace_back();
      if (!field(in, schema.back(), tagged, depth)) {
        return false;
      }
      if (ends_) {
        return true;
      }
    }
    return in.ok();
  }

 private:
  bool field(bytes::ByteCursor& in, PayloadField& field, bool tagged, unsigned depth) {
    if (newest_) {
      bytes::ByteCursor row = in.sub(in.read<std::uint16_t>());
      field.name = bytes::valid_utf8(read_text8(row));
      return type(row, row.read<std::uint8_t>(), field, true, depth);
    }
    if (tagged) {
      const auto size = in.read<std::uint32_t>();
      bytes::ByteCursor row = in.sub(size < sizeof(size) ? 0 : size - sizeof(size));
      const bool named = bytes::append_wide_text(row, field.name);
      return named && type(row, row.read<std::uint32_t>(), field, true, depth);
    }
    return type(in, in.read<std::uint32_t>(), field, false, depth) &&
           bytes::append_wide_text(in, field.name);
  }

  bool type(bytes::ByteCursor& in, std::uint32_t code, PayloadField& field, bool tagged,
            unsigned depth) {
    if (depth > capture::kMostPayloadDepth || !in.ok()) {
      return false;
    }
    switch (code) {
      case kObject:
        field.type = PayloadType::kStruct;
        return list(in, field.members, tagged, depth + 1);
      case kArray:
      case kFixedArray:
      case kRelLoc:
      case kDataLoc:
        return array(in, code, field, tagged, depth);
      default:
        scalar(code, field);
        return true;
    }
  }

  bool array(bytes::ByteCursor& in, std::uint32_t code, PayloadField& field, bool tagged,
             unsigned depth) {
    const std::uint32_t of = newest_ ? in.read<std::uint8_t>() : in.read<std::uint32_t>();
    if (!type(in, of, field, tagged, depth + 1)) {
      return false;
    }
    if (field.count != PayloadExtent::kOne || field.length != PayloadExtent::kOne) {  // of arrays
      PayloadField inner = std::exchange(field, {});
      field.name = std::exchange(inner.name, "items");
      field.type = PayloadType::kStruct;
      field.members.push_back(std::move(inner));
    }
    field.count = code == kArray        ? PayloadExtent::kPrefixed
                  : code == kFixedArray ? PayloadExtent::kFixed
                  : code == kRelLoc     ? PayloadExtent::kRelative
                                        : PayloadExtent::kAbsolute;
    field.count_number = code == kFixedArray ? in.read<std::uint16_t>() : 0;
    const bool is_blob = field.type == PayloadType::kUnsigned && field.size == 1 &&
                         (code == kArray || code == kFixedArray);
    if (is_blob) {
      field.type = PayloadType::kBytes;
      field.length = std::exchange(field.count, PayloadExtent::kOne);
      field.length_number = field.count_number;
    }
    return in.ok();
  }

  // False: `code` is of no number with a size.
  static bool number(std::uint32_t code, PayloadField& field) {
    constexpr std::uint32_t kSByte = 5;
    constexpr std::uint32_t kUInt64 = 12;
    constexpr std::uint32_t kSingle = 13;
    constexpr std::uint32_t kDouble = 14;
    if (code < kSByte || code > kDouble) {
      return false;
    }
    if (code <= kUInt64) {  // signed and unsigned take turns
      field.type = (code - kSByte) % 2 == 0 ? PayloadType::kSigned : PayloadType::kUnsigned;
      field.size = static_cast<std::uint8_t>(1U << ((code - kSByte) / 2));
      return true;
    }
    field.type = PayloadType::kReal;
    field.size = code == kSingle ? 4 : 8;
    return true;
  }

  void scalar(std::uint32_t code, PayloadField& field) {
    if (number(code, field)) {
      return;
    }
    const auto is = [&field](PayloadType type, std::uint8_t size) {
      field.type = type;
      field.size = size;
    };
    switch (code) {
      case kBoolean:
        return is(PayloadType::kBool, 4);
      case kChar:
        return is(PayloadType::kChar16, 2);
      case kDateTime:
        return newest_ ? is(PayloadType::kSystemTime, 16) : is(PayloadType::kFileTime, 8);
      case kGuid:
        return is(PayloadType::kGuid, 16);
      case kString:
        return is(PayloadType::kText16, 0);
      case kVarInt:
        return is(PayloadType::kVarSigned, 0);
      case kVarUInt:
        return is(PayloadType::kVarUnsigned, 0);
      case kUtf8Unit:
        is(universal_ ? PayloadType::kText8 : PayloadType::kChar8, 1);
        // The universal providers write a text where they promise a letter.
        field.length = universal_ ? PayloadExtent::kPrefixed : PayloadExtent::kOne;
        return;
      case kDecimal:
        is(PayloadType::kBytes, 0);
        field.length = PayloadExtent::kFixed;
        field.length_number = 16;
        return;
      default:
        is(PayloadType::kBytes, 0);
        ends_ = true;
        return;
    }
  }

  bool newest_;
  bool universal_;
  bool ends_ = false;  // a type is not known: nothing after it can be found
  std::size_t fields_ = 0;
};

// The second list of fields, where there is one.
bool read_tags(bytes::ByteCursor in, SchemaReader& reader, PayloadSchema& schema) {
  constexpr std::uint8_t kFields = 2;
  while (in.ok() && in.remaining() != 0) {
    const auto size = in.read<std::uint32_t>();
    const auto tag = in.read<std::uint8_t>();
    bytes::ByteCursor content = in.sub(size);
    if (content.ok() && tag == kFields) {
      return reader.list(content, schema, true, 0);
    }
  }
  return true;
}

}  // namespace

PayloadSchema read_schema(std::uint32_t version, std::span<const std::byte> description,
                          std::string_view provider) {
  PayloadSchema schema;
  SchemaReader reader(version, provider);
  bytes::ByteCursor in(description, 0);
  bool good = reader.list(in, schema, false, 0);
  if (good && schema.empty() && version < 6) {
    good = read_tags(in, reader, schema);
  }
  return good ? schema : PayloadSchema();
}

}  // namespace stackpack::nettrace
