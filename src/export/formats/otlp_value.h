#pragma once

#include <bit>
#include <cstdint>

#include "export/formats/otlp_fields.h"
#include "export/formats/otlp_sample_fields.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::exporting {

/// Writes the content of an AnyValue.
inline void write_value(protozero::pbf_writer& out, const OtlpValue& value) {
  switch (value.type) {
    case OtlpValue::Type::kText:
      out.add_string(otlp::any_value::kText, value.text);
      break;
    case OtlpValue::Type::kBool:
      out.add_bool(otlp::any_value::kBool, value.number != 0);
      break;
    case OtlpValue::Type::kInteger:
      out.add_int64(otlp::any_value::kInteger, static_cast<std::int64_t>(value.number));
      break;
    case OtlpValue::Type::kReal:
      out.add_double(otlp::any_value::kReal, std::bit_cast<double>(value.number));
      break;
  }
}

}  // namespace stackpack::exporting
