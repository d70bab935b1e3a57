#pragma once

#include "app/listing/text_output.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Lists every (pid, address) of the samples that has a name.
Status dump_names(const Reader& reader, bool as_json, app::TextOutput& out);

}  // namespace stackpack::cli
