#include "capture/payload_decoder.h"

#include <algorithm>
#include <bit>

#include "bytes/byte_text.h"
#include "bytes/utf8.h"
#include "bytes/wide_text.h"

namespace stackpack::capture {

namespace {

using Form = PayloadValue::Form;

std::uint64_t read_number(bytes::ByteCursor& in, unsigned size) {
  switch (size) {
    case 1:
      return in.read<std::uint8_t>();
    case 2:
      return in.read<std::uint16_t>();
    case 4:
      return in.read<std::uint32_t>();
    default:
      return in.read<std::uint64_t>();
  }
}

std::uint64_t with_sign(std::uint64_t number, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number << unused) >> unused);
}

std::string guid_text(bytes::ByteCursor& in) {
  std::string text;
  bytes::append_hex(text, in.read<std::uint32_t>(), 8);
  for (int i = 0; i < 2; ++i) {
    text += '-';
    bytes::append_hex(text, in.read<std::uint16_t>(), 4);
  }
  for (int i = 0; i < 8; ++i) {
    text += i == 0 || i == 2 ? "-" : "";
    bytes::append_hex(text, in.read<std::uint8_t>(), 2);
  }
  return text;
}

std::string padded(unsigned number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

std::string system_time(bytes::ByteCursor& in) {
  std::uint16_t part[8] = {};
  for (std::uint16_t& one : part) {
    one = in.read<std::uint16_t>();
  }
  return padded(part[0], 4) + '-' + padded(part[1], 2) + '-' + padded(part[3], 2) + 'T' +
         padded(part[4], 2) + ':' + padded(part[5], 2) + ':' + padded(part[6], 2) + '.' +
         padded(part[7], 3) + 'Z';
}

std::string sid_text(bytes::ByteCursor& in) {
  const auto revision = in.read<std::uint8_t>();
  const auto count = in.read<std::uint8_t>();
  std::uint64_t authority = 0;
  for (int i = 0; i < 6; ++i) {
    authority = authority << 8 | in.read<std::uint8_t>();
  }
  std::string text = "S-" + std::to_string(revision) + '-' + std::to_string(authority);
  for (unsigned i = 0; i < count && in.ok(); ++i) {
    text += '-' + std::to_string(in.read<std::uint32_t>());
  }
  return text;
}

std::string wide(bytes::ByteCursor in) {
  return bytes::read_wide_text(in);
}

std::string narrow(std::span<const std::byte> bytes) {
  const std::string_view text = bytes::text_of(bytes);
  return bytes::valid_utf8(text.substr(0, text.find('\0')));
}

std::string hex_text(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    bytes::append_hex(text, std::to_integer<std::uint64_t>(byte), 2);
  }
  return text;
}

bool is_character(PayloadType type) {
  return type == PayloadType::kChar16 || type == PayloadType::kChar8;
}

// Characters side by side are a text.
PayloadField as_text(const PayloadField& field) {
  PayloadField text = field;
  text.type = field.type == PayloadType::kChar16 ? PayloadType::kText16 : PayloadType::kText8;
  text.length = field.count;
  text.length_number = field.count_number;
  text.count = PayloadExtent::kOne;
  return text;
}

}  // namespace

bool PayloadDecoder::decode(const PayloadSchema& schema, std::span<const std::byte> payload,
                            unsigned pointer_size) {
  pointer_size_ = pointer_size;
  values_ = 0;
  name_bytes_ = 0;
  numbers_.clear();
  fields_.clear();
  whole_ = bytes::ByteCursor(payload, 0);
  bytes::ByteCursor in = whole_;
  for (const PayloadField& one : schema) {
    if (!field(one, one.name, in)) {
      return false;
    }
  }
  return true;
}

void PayloadDecoder::remember(const PayloadField& field, const PayloadValue& value) {
  if (field.slot < kMostPayloadFields && value.form != Form::kText) {
    numbers_.resize(std::max(numbers_.size(), std::size_t{field.slot} + 1));
    numbers_[field.slot] = value.bits;
  }
}

bool PayloadDecoder::extent(PayloadExtent extent, std::uint32_t number, bytes::ByteCursor& in,
                            std::uint64_t& result) {
  switch (extent) {
    case PayloadExtent::kFixed:
      result = number;
      return true;
    case PayloadExtent::kPrefixed:
      result = in.read<std::uint16_t>();
      return in.ok();
    case PayloadExtent::kField:
      result = number < numbers_.size() ? numbers_[number] : 0;
      return number < numbers_.size();
    default:
      result = 1;
      return true;
  }
}

bool PayloadDecoder::field(const PayloadField& field, const std::string& name,
                           bytes::ByteCursor& in) {
  if (field.count == PayloadExtent::kRelative || field.count == PayloadExtent::kAbsolute) {
    return elsewhere(field, name, in);
  }
  if (is_character(field.type) && field.count != PayloadExtent::kOne) {
    return this->field(as_text(field), name, in);
  }
  std::uint64_t count = 1;
  if (!extent(field.count, field.count_number, in, count)) {
    return false;
  }
  if (field.type == PayloadType::kStruct) {
    return structs(field, name, count, in);
  }
  name_bytes_ += name.size();
  if (name_bytes_ > kMostNameBytes) {
    return false;
  }
  const std::size_t at = fields_.size();
  fields_.push_back({name, field.count != PayloadExtent::kOne, {}});
  for (std::uint64_t i = 0; i < count; ++i) {
    PayloadValue one;
    if (!take_value() || !value(field, in, one)) {
      return false;
    }
    remember(field, one);
    fields_[at].values.push_back(std::move(one));
  }
  return true;
}

bool PayloadDecoder::structs(const PayloadField& field, const std::string& name,
                             std::uint64_t count, bytes::ByteCursor& in) {
  const bool is_list = field.count != PayloadExtent::kOne;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string prefix =
        (name.empty() ? "" : name + '.') + (is_list ? std::to_string(i) + '.' : std::string());
    if (!take_value()) {
      return false;
    }
    for (const PayloadField& member : field.members) {
      if (!this->field(member, prefix + member.name, in)) {
        return false;
      }
    }
  }
  return true;
}

// Elements that stand somewhere else in the payload; their size is in bytes.
bool PayloadDecoder::elsewhere(const PayloadField& field, const std::string& name,
                               bytes::ByteCursor& in) {
  const auto distance = in.read<std::uint16_t>();
  const auto size = in.read<std::uint16_t>();
  bytes::ByteCursor there = field.count == PayloadExtent::kRelative ? in : whole_;
  there.skip(distance);
  bytes::ByteCursor content = there.sub(size);
  if (!in.ok() || !content.ok()) {
    return false;
  }
  PayloadField one = field;
  one.count = PayloadExtent::kOne;
  if (is_character(field.type)) {
    one.count = PayloadExtent::kFixed;
    one.count_number = size / (field.type == PayloadType::kChar16 ? 2U : 1U);
    return this->field(one, name, content);
  }
  for (std::size_t i = 0; content.remaining() != 0; ++i) {
    const std::size_t before = content.remaining();
    if (!take_value() || !this->field(one, name + '.' + std::to_string(i), content) ||
        content.remaining() == before) {
      return false;
    }
  }
  return true;
}

bool PayloadDecoder::value(const PayloadField& field, bytes::ByteCursor& in, PayloadValue& value) {
  value.form = Form::kText;
  switch (field.type) {
    case PayloadType::kGuid:
      value.text = guid_text(in);
      break;
    case PayloadType::kSystemTime:
      value.text = system_time(in);
      break;
    case PayloadType::kSid:
      value.text = sid_text(in);
      break;
    case PayloadType::kChar16:
      value.text = wide(in.sub(2));
      break;
    case PayloadType::kChar8:
      value.text = narrow(in.read_bytes(1));
      break;
    case PayloadType::kText16:
    case PayloadType::kText8:
    case PayloadType::kBytes:
      return text(field, in, value);
    default:
      return number(field, in, value);
  }
  return in.ok();
}

bool PayloadDecoder::number(const PayloadField& field, bytes::ByteCursor& in, PayloadValue& value) {
  value.form = Form::kNumber;
  switch (field.type) {
    case PayloadType::kSigned:
      value.form = Form::kSigned;
      value.bits = with_sign(read_number(in, field.size), field.size);
      break;
    case PayloadType::kPointer:
      value.form = Form::kHex;
      value.bits = read_number(in, pointer_size_);
      break;
    case PayloadType::kHex:
    case PayloadType::kFileTime:
      value.form = field.type == PayloadType::kHex ? Form::kHex : Form::kNumber;
      value.bits = read_number(in, field.size);
      break;
    case PayloadType::kBool:
      value.form = Form::kBool;
      value.bits = read_number(in, field.size) != 0 ? 1 : 0;
      break;
    case PayloadType::kReal:
      value.form = Form::kReal;
      value.bits = field.size == 4 ? std::bit_cast<std::uint64_t>(static_cast<double>(
                                         std::bit_cast<float>(in.read<std::uint32_t>())))
                                   : in.read<std::uint64_t>();
      break;
    case PayloadType::kVarSigned: {
      value.form = Form::kSigned;
      const std::uint64_t zigzag = in.read_varint();
      value.bits = zigzag >> 1 ^ (0 - (zigzag & 1));
      break;
    }
    case PayloadType::kVarUnsigned:
      value.bits = in.read_varint();
      break;
    default:
      value.bits = read_number(in, field.size);
      break;
  }
  return in.ok();
}

bool PayloadDecoder::text(const PayloadField& field, bytes::ByteCursor& in, PayloadValue& value) {
  const bool is_wide = field.type == PayloadType::kText16;
  if (field.length == PayloadExtent::kOne) {
    if (is_wide) {
      return bytes::append_wide_text(in, value.text);
    }
    if (field.type == PayloadType::kText8) {
      const std::size_t before = in.position();
      const std::string_view text = in.read_c_string();
      value.text = bytes::valid_utf8(text);
      return in.position() - before == text.size() + 1;  // with its NUL
    }
    value.text = hex_text(in.rest());
    in.skip(in.remaining());
    return true;
  }
  std::uint64_t length = 0;
  if (!extent(field.length, field.length_number, in, length) || length > in.remaining()) {
    return false;
  }
  if (is_wide) {
    value.text = wide(in.sub(field.length_in_bytes ? length : 2 * length));
  } else {
    const std::span<const std::byte> bytes = in.read_bytes(length);
    value.text = field.type == PayloadType::kText8 ? narrow(bytes) : hex_text(bytes);
  }
  return in.ok();
}

}  // namespace stackpack::capture
