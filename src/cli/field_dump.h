#pragma once

#include "app/listing/text_output.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Lists the fields of samples in the order of the samples, each named by its number in
/// `dump --samples`, from 0 on: a line of names, a line a row, `-` where a field was not recorded;
/// as JSON only what was.
Status dump_sample_fields(const Reader& reader, bool as_json, app::TextOutput& out);

}  // namespace stackpack::cli
