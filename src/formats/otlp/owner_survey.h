#pragma once

#include <cstdint>

#include "capture/read_control.h"
#include "formats/otlp/message_walk.h"
#include "formats/otlp/resource_fields.h"
#include "io/byte_source.h"

namespace stackpack::otlp {

/// What stands beside the profiles of a ResourceProfiles or ScopeProfiles, wherever in it.
/// [begin, end): the content of that message. `damaged`: bytes that make no sense, or more than
/// kMostSmallBytes, which give no fields. Errors: those of the source; kCancelled.
Result<OwnerFields> owner_fields(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                 ConstantFields::Owner owner, const capture::ReadControl& control,
                                 OtlpTables* tables, bool& damaged);

/// Looks at all resources and scopes of the message in [begin, end).
/// Errors: those of the source; kCancelled. Damage ends it.
Status survey_owners(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                     const capture::ReadControl& control, ConstantFields& constants);

}  // namespace stackpack::otlp
