#pragma once

#include <cstdint>

#include "capture/read_control.h"
#include "formats/otlp/message_walk.h"
#include "formats/otlp/resource_fields.h"
#include "io/byte_source.h"

namespace stackpack::otlp {

/// What stands beside the profiles of a ResourceProfiles or ScopeProfiles, wherever in it.
/// `end`: of the message in which `walk` stands. Bytes that make no sense give no fields; the walk
/// that reads profiles counts them. Errors: those of the source; kCancelled.
/// `damaged`: such bytes, or more than kMostSmallBytes.
Result<OwnerFields> owner_fields(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                 ConstantFields::Owner owner, const capture::ReadControl& control,
                                 OtlpTables* tables, bool& damaged);

/// Looks at all resources and scopes of the message in [begin, end).
/// Errors: those of the source; kCancelled. Damage ends it.
Status survey_owners(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                     const capture::ReadControl& control, ConstantFields& constants);

}  // namespace stackpack::otlp
