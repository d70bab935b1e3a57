// The fields of an event by its schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/payload_schema.h"

namespace stackpack::capture {

struct PayloadValue {
  enum class Form : std::uint8_t { kNumber, kSigned, kHex, kReal, kBool, kText };
  Form form = Form::kNumber;
  std::uint64_t bits = 0;  ///< of all but texts; of kReal those of a double
  std::string text;
};

/// A field without a struct around it: members are called "outer.inner", "outer.0.inner".
struct DecodedField {
  std::string name;
  bool is_list = false;
  std::vector<PayloadValue> values;  ///< one, or those of the list
};

/// Decodes payload after payload.
///
/// Memory: kMostValues values of an event, kMostNameBytes of names and a few bytes of text for each
/// byte of the payload; what is beyond makes decode() false.
class PayloadDecoder {
 public:
  static constexpr std::size_t kMostValues = std::size_t{1} << 16;
  static constexpr std::size_t kMostNameBytes = std::size_t{4} << 20;

  /// The fields of `payload`. False: it does not fit the schema, and what was read up to there is
  /// in fields().
  bool decode(const PayloadSchema& schema, std::span<const std::byte> payload,
              unsigned pointer_size);

  [[nodiscard]] const std::vector<DecodedField>& fields() const { return fields_; }

 private:
  bool field(const PayloadField& field, const std::string& name, bytes::ByteCursor& in);
  bool structs(const PayloadField& field, const std::string& name, std::uint64_t count,
               bytes::ByteCursor& in);
  bool value(const PayloadField& field, bytes::ByteCursor& in, PayloadValue& value);
  bool number(const PayloadField& field, bytes::ByteCursor& in, PayloadValue& value);
  bool text(const PayloadField& field, bytes::ByteCursor& in, PayloadValue& value);
  bool elsewhere(const PayloadField& field, const std::string& name, bytes::ByteCursor& in);
  bool extent(PayloadExtent extent, std::uint32_t number, bytes::ByteCursor& in,
              std::uint64_t& result);
  void remember(const PayloadField& field, const PayloadValue& value);
  bool take_value() { return values_++ < kMostValues; }

  bytes::ByteCursor whole_{{}, 0};
  unsigned pointer_size_ = 8;
  std::size_t values_ = 0;
  std::size_t name_bytes_ = 0;
  std::vector<std::uint64_t> numbers_;  // by slot
  std::vector<DecodedField> fields_;
};

}  // namespace stackpack::capture
