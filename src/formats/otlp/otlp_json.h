#pragma once

#include <cstdint>
#include <string>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::otlp {

/// The protobuf message that OTLP's JSON form of ProfilesData stands for. Fields that the reader
/// does not know are left out. Members have their names in lowerCamelCase or as in the schema.
///
/// Memory: the message, and the open parts of it. Errors: kCorrupt, kLimit for a text larger than
/// `max_bytes`; those of the source.
Result<std::string> message_of_json(io::ByteSource& source, std::uint64_t max_bytes);

}  // namespace stackpack::otlp
