#pragma once

#include "app/listing/text_output.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Lists the values of events in order of time: a line of names, a line a row; each field as
/// NAME=VALUE, `-` where it has none.
Status dump_event_values(const Reader& reader, bool as_json, app::TextOutput& out);

}  // namespace stackpack::cli
