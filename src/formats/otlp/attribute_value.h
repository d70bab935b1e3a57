// Values of attributes: AnyValue of opentelemetry-proto/common.proto.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/pbf_reader.hpp>

namespace stackpack::otlp {

enum class AttributeType : std::uint8_t {
  kNone,  ///< empty, or what cannot be kept
  kText,
  kBool,
  kInteger,
  kReal,
  kTextIndex,  ///< of a string of the dictionary
};

struct AttributeValue {
  AttributeType type = AttributeType::kNone;
  std::uint64_t number = 0;  ///< bits of a double; a row of strings
  std::string text;

  friend bool operator==(const AttributeValue&, const AttributeValue&) = default;
};

/// Lists and maps become JSON, bytes hexadecimal digits: texts. Throws what protozero throws.
AttributeValue read_any_value(protozero::pbf_reader message);

/// Two hexadecimal digits for each byte.
std::string hex_of(std::string_view content);

/// What an attribute of samples is told from others by: the same key may have values of several
/// types.
struct FieldKey {
  std::string name;
  AttributeType type = AttributeType::kNone;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const FieldKey&, const FieldKey&) = default;
};

/// An attribute with its name in the file: that of a resource has `resource.` in front.
struct FieldValue {
  std::string name;
  AttributeValue value;

  [[nodiscard]] FieldKey key() const { return {name, value.type}; }
};

}  // namespace stackpack::otlp
