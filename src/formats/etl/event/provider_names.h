#pragma once

#include <string_view>

#include "formats/etl/event/guid.h"

namespace stackpack::etl {

/// The name under which a well-known provider of events is registered on Windows, or nothing.
/// Source: `logman query providers`, and the manifests that Microsoft publishes.
std::string_view provider_name(const Guid& guid);

}  // namespace stackpack::etl
