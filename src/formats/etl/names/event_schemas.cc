#include "formats/etl/names/event_schemas.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "bytes/utf8.h"
#include "formats/etl/event/windows_text.h"
#include "formats/etl/names/manifest_text.h"

namespace stackpack::etl {

namespace {

using capture::PayloadExtent;
using capture::PayloadField;
using capture::PayloadSchema;
using capture::PayloadType;

// Types of fields, TDH_INTYPE_* of tdh.h.
enum InTypes : std::uint16_t {
  kUnicode = 1,
  kAnsi = 2,
  kInt8 = 3,
  kUInt64 = 10,
  kFloat = 11,
  kDouble = 12,
  kBoolean = 13,
  kBinary = 14,
  kGuidType = 15,
  kPointerType = 16,
  kFileTimeType = 17,
  kSystemTimeType = 18,
  kSidType = 19,
  kHex32 = 20,
  kHex64 = 21,
  kCountedUnicode = 22,
  kCountedAnsi = 23,
  kStructType = 24,  // of TraceLogging
  kCountedBinary = 25,
  kClassCountedUnicode = 300,
  kClassCountedAnsi = 301,
  kUnicodeChar = 306,
  kAnsiChar = 307,
  kSizeType = 308,
};

constexpr std::uint16_t kShownAsText = 2;
constexpr std::uint16_t kShownAsBool = 3;

bool is_text(PayloadType type) {
  return type == PayloadType::kText16 || type == PayloadType::kText8;
}

bool is_integer(std::uint16_t in_type) {
  return in_type >= kInt8 && in_type <= kUInt64;
}

PayloadType integer_type(std::uint16_t in_type, std::uint16_t shown_as, unsigned size) {
  if (shown_as == kShownAsBool) {
    return PayloadType::kBool;
  }
  if (shown_as == kShownAsText && size <= 2) {
    return size == 1 ? PayloadType::kChar8 : PayloadType::kChar16;
  }
  return (in_type - kInt8) % 2 == 0 ? PayloadType::kSigned : PayloadType::kUnsigned;
}

// False: nobody knows how long such a field is.
bool number_type(std::uint16_t in_type, std::uint16_t shown_as, PayloadField& field) {
  const auto is = [&field](PayloadType type, unsigned size) {
    field.type = type;
    field.size = static_cast<std::uint8_t>(size);
    return true;
  };
  if (is_integer(in_type)) {
    const unsigned size = 1U << ((in_type - kInt8) / 2);
    return is(integer_type(in_type, shown_as, size), size);
  }
  switch (in_type) {
    case kFloat:
      return is(PayloadType::kReal, 4);
    case kDouble:
      return is(PayloadType::kReal, 8);
    case kBoolean:
      return is(PayloadType::kBool, 4);
    case kGuidType:
      return is(PayloadType::kGuid, 16);
    case kPointerType:
    case kSizeType:
      return is(PayloadType::kPointer, 0);
    case kFileTimeType:
      return is(PayloadType::kFileTime, 8);
    case kSystemTimeType:
      return is(PayloadType::kSystemTime, 16);
    case kSidType:
      return is(PayloadType::kSid, 0);
    case kHex32:
      return is(PayloadType::kHex, 4);
    case kHex64:
      return is(PayloadType::kHex, 8);
    case kUnicodeChar:
      return is(PayloadType::kChar16, 2);
    case kAnsiChar:
      return is(PayloadType::kChar8, 1);
    default:
      return false;
  }
}

// A field of this type; a type that is not known takes the rest of the payload.
bool set_type(std::uint16_t in_type, std::uint16_t shown_as, PayloadField& field) {
  const auto is = [&field](PayloadType type, PayloadExtent length) {
    field.type = type;
    field.length = length;
    field.length_in_bytes = true;
    return true;
  };
  switch (in_type) {
    case kUnicode:
      return is(PayloadType::kText16, PayloadExtent::kOne);
    case kAnsi:
      return is(PayloadType::kText8, PayloadExtent::kOne);
    case kBinary:
      return is(PayloadType::kBytes, PayloadExtent::kOne);
    case kCountedUnicode:
    case kClassCountedUnicode:
      return is(PayloadType::kText16, PayloadExtent::kPrefixed);
    case kCountedAnsi:
    case kClassCountedAnsi:
      return is(PayloadType::kText8, PayloadExtent::kPrefixed);
    case kCountedBinary:
      return is(PayloadType::kBytes, PayloadExtent::kPrefixed);
    default:
      if (number_type(in_type, shown_as, field)) {
        return true;
      }
      is(PayloadType::kBytes, PayloadExtent::kOne);
      return false;
  }
}

// Properties of a TRACE_EVENT_INFO.
class InfoReader {
 public:
  explicit InfoReader(const bytes::ByteCursor& info) : info_(info) {
    bytes::ByteCursor in = info_;
    in.skip(kCounts);
    properties_ = in.read<std::uint32_t>();
    top_ = in.read<std::uint32_t>();
    if (!in.ok() || properties_ > in.remaining() / kPropertyBytes || top_ > properties_) {
      properties_ = top_ = 0;
    }
  }

  PayloadSchema schema() {
    PayloadSchema fields;
    for (std::uint32_t i = 0; i < top_; ++i) {
      if (!property(i, fields, 0)) {
        break;
      }
    }
    return fields;
  }

 private:
  static constexpr std::uint32_t kCounts = 100;
  static constexpr std::uint32_t kProperties = 112;
  static constexpr std::uint32_t kPropertyBytes = 24;
  enum Flags : std::uint32_t {
    kIsStruct = 1,
    kLengthOfField = 2,
    kCountOfField = 4,
    kFixedCount = 0x20,
  };

  std::string name_at(std::uint32_t offset) const {
    bytes::ByteCursor in = info_;
    in.seek(offset);
    return offset == 0 || !in.ok() ? std::string() : read_wide_text(in);
  }

  // False: nothing can be found after it.
  bool property(std::uint32_t number, PayloadSchema& fields, unsigned depth) {
    bytes::ByteCursor in = info_;
    in.seek(kProperties + std::uint64_t{number} * kPropertyBytes);
    const auto flags = in.read<std::uint32_t>();
    const auto name = in.read<std::uint32_t>();
    const auto type = in.read<std::uint16_t>();
    const auto shown_as = in.read<std::uint16_t>();
    in.skip(4);
    const auto count = in.read<std::uint16_t>();
    const auto length = in.read<std::uint16_t>();
    if (!in.ok() || ++fields_ > capture::kMostPayloadFields) {
      return false;
    }
    fields.emplace_back();
    PayloadField& field = fields.back();
    field.name = name_at(name);
    field.slot = static_cast<std::uint16_t>(std::min<std::uint32_t>(number, PayloadField::kNoSlot));
    if ((flags & kCountOfField) != 0 || (flags & kFixedCount) != 0 || count > 1) {
      field.count = (flags & kCountOfField) != 0 ? PayloadExtent::kField : PayloadExtent::kFixed;
      field.count_number = count;
    }
    if ((flags & kIsStruct) != 0) {
      return members(type, shown_as, field, depth);
    }
    const bool known = set_type(type, shown_as, field);
    const bool has_length = (flags & kLengthOfField) != 0 || length != 0;
    if (known && has_length && field.length == PayloadExtent::kOne &&
        (is_text(field.type) || field.type == PayloadType::kBytes)) {
      field.length = (flags & kLengthOfField) != 0 ? PayloadExtent::kField : PayloadExtent::kFixed;
      field.length_number = length;
      field.length_in_bytes = false;
    }
    return known;
  }

  bool members(std::uint32_t first, std::uint32_t count, PayloadField& field, unsigned depth) {
    field.type = PayloadType::kStruct;
    if (depth >= capture::kMostPayloadDepth || first + count > properties_) {
      return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!property(first + i, field.members, depth + 1)) {
        return false;
      }
    }
    return true;
  }

  bytes::ByteCursor info_;
  std::uint32_t properties_ = 0;
  std::uint32_t top_ = 0;
  std::size_t fields_ = 0;
};

std::uint16_t in_type_named(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "",        "UnicodeString", "AnsiString", "Int8",  "UInt8",    "Int16",   "UInt16", "Int32",
      "UInt32",  "Int64",         "UInt64",     "Float", "Double",   "Boolean", "Binary", "GUID",
      "Pointer", "FILETIME",      "SYSTEMTIME", "SID",   "HexInt32", "HexInt64"};
  constexpr std::string_view kPrefix = "win:";
  if (name.starts_with(kPrefix)) {
    name.remove_prefix(kPrefix.size());
  }
  for (std::size_t i = 1; i < std::size(kNames); ++i) {
    if (kNames[i] == name) {
      return static_cast<std::uint16_t>(i);
    }
  }
  return 0;
}

// What stands for a length or count: a number, or the name of a field before it.
PayloadExtent extent_named(const std::string& text, const PayloadSchema& fields,
                           std::uint32_t& number) {
  if (const auto fixed = number_of(text)) {
    number = *fixed;
    return PayloadExtent::kFixed;
  }
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == text) {
      number = i;
      return PayloadExtent::kField;
    }
  }
  return PayloadExtent::kOne;
}

// <data ..> of a template; false: nothing can be found after it.
bool add_data(std::string_view tag, PayloadSchema& fields) {
  PayloadField field;
  field.name = attribute(tag, "name");
  field.slot = static_cast<std::uint16_t>(fields.size());
  const bool known = set_type(in_type_named(attribute(tag, "inType")), 0, field);
  if (const std::string count = attribute(tag, "count"); !count.empty()) {
    field.count = extent_named(count, fields, field.count_number);
  }
  if (const std::string length = attribute(tag, "length"); !length.empty() && known) {
    field.length = extent_named(length, fields, field.length_number);
    field.length_in_bytes = false;
  }
  fields.push_back(std::move(field));
  return known && fields.size() < capture::kMostPayloadFields;
}

// Fields of TraceLogging, up to `most`.
class TraceLoggingReader {
 public:
  explicit TraceLoggingReader(bytes::ByteCursor& in) : in_(in) {}

  // False: nothing can be found after it.
  bool fields(PayloadSchema& schema, std::size_t most, unsigned depth) {
    for (std::size_t i = 0; i < most && in_.remaining() != 0; ++i) {
      if (++fields_ > capture::kMostPayloadFields) {
        return false;
      }
      schema.emplace_back();
      if (!field(schema.back(), depth)) {
        return false;
      }
    }
    return in_.ok();
  }

 private:
  enum TypeBits : std::uint8_t { kType = 31, kFixed = 32, kCounted = 64, kMore = 128 };

  bool field(PayloadField& field, unsigned depth) {
    field.name = bytes::valid_utf8(in_.read_c_string());
    const auto bits = in_.read<std::uint8_t>();
    std::uint8_t shown_as = 0;
    if ((bits & kMore) != 0) {
      shown_as = in_.read<std::uint8_t>();
      for (bool more = (shown_as & kMore) != 0; more && in_.ok();) {
        more = (in_.read<std::uint8_t>() & kMore) != 0;
      }
      shown_as &= 0x7F;
    }
    const bool is_custom = (bits & (kFixed | kCounted)) == (kFixed | kCounted);
    if (!is_custom && (bits & kFixed) != 0) {
      field.count = PayloadExtent::kFixed;
      field.count_number = in_.read<std::uint16_t>();
    } else if ((bits & kCounted) != 0) {
      field.count = PayloadExtent::kPrefixed;
    }
    if (!in_.ok()) {
      return false;
    }
    if (is_custom) {  // a blob of a type of its own
      in_.skip(in_.read<std::uint16_t>());
      field.count = PayloadExtent::kOne;
      set_type(kCountedBinary, 0, field);
      return in_.ok();
    }
    if ((bits & kType) == kStructType) {
      field.type = PayloadType::kStruct;
      return depth < capture::kMostPayloadDepth && fields(field.members, shown_as, depth + 1);
    }
    const auto type = static_cast<std::uint16_t>(bits & kType);
    return set_type(type == kBinary ? std::uint16_t{kCountedBinary} : type, shown_as, field);
  }

  bytes::ByteCursor& in_;
  std::size_t fields_ = 0;
};

}  // namespace

std::string schema_key(const Guid& guid, std::uint16_t id, std::uint16_t version) {
  return text_of(guid) + '/' + std::to_string(id) + '/' + std::to_string(version);
}

void learn_event_info(const EventView& event, std::string provider, std::string title,
                      capture::PayloadSchemas& schemas) {
  constexpr std::uint32_t kSource = 48;
  const bytes::ByteCursor info(event.payload, event.position);
  bytes::ByteCursor in = info;
  const Guid guid = read_guid(in);
  const Guid event_class = read_guid(in);
  const auto id = in.read<std::uint16_t>();
  const auto version = in.read<std::uint8_t>();
  in.skip(2);
  const auto opcode = in.read<std::uint8_t>();
  in.seek(kSource);
  const bool of_class = in.read<std::uint32_t>() == 1;
  if (!in.ok()) {
    return;
  }
  schemas.add(of_class ? schema_key(event_class, opcode, version) : schema_key(guid, id, version),
              {std::move(title), std::move(provider), InfoReader(info).schema()});
}

void learn_manifest(const Guid& guid, std::string_view text, capture::PayloadSchemas& schemas) {
  struct Listed {
    std::uint16_t id = 0;
    std::uint16_t version = 0;
    std::string title;
    std::string fields;  // the name of its template
  };
  std::string provider = text_of(guid);
  std::vector<Listed> events;
  std::map<std::string, PayloadSchema> templates;
  PayloadSchema* open = nullptr;
  bool whole = true;  // of that template
  while (const std::optional<std::string_view> tag = next_tag(text)) {
    if (is_tag(*tag, "provider")) {
      const std::string name = attribute(*tag, "name");
      provider = name.empty() ? provider : name;
    } else if (is_tag(*tag, "event")) {
      if (const auto id = number_of(attribute(*tag, "value"))) {
        events.push_back({*id, number_of(attribute(*tag, "version")).value_or(0),
                          manifest_event_title(provider, *tag), attribute(*tag, "template")});
      }
    } else if (is_tag(*tag, "template")) {
      open = &templates[attribute(*tag, "tid")];
      whole = true;
    } else if (is_tag(*tag, "data") && open != nullptr && whole) {
      whole = add_data(*tag, *open);
    }
  }
  for (Listed& one : events) {
    const auto found = templates.find(one.fields);
    schemas.add(schema_key(guid, one.id, one.version),
                {std::move(one.title), provider,
                 found == templates.end() ? PayloadSchema() : found->second});
  }
}

PayloadSchema trace_logging_schema(const EventView& event) {
  PayloadSchema schema;
  ExtendedItems items(event.extended);
  for (ExtendedItem item; items.next(item);) {
    if (item.type != kExtendedSchema) {
      continue;
    }
    bytes::ByteCursor in(item.data, event.position);
    const auto size = in.read<std::uint16_t>();
    in = bytes::ByteCursor(item.data.first(std::min<std::size_t>(size, item.data.size())),
                           event.position);
    in.skip(sizeof(size));
    while ((in.read<std::uint8_t>() & 0x80) != 0) {
    }
    in.read_c_string();
    if (in.ok()) {
      TraceLoggingReader(in).fields(schema, capture::kMostPayloadFields, 0);
    }
  }
  return schema;
}

}  // namespace stackpack::etl
