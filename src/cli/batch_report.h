#pragma once

#include <string>
#include <vector>

#include "app/batch/batch.h"
#include "cli/json_text.h"

namespace stackpack::cli {

/// The object of `convert --json` for one input: the keys of docs/cli.md.
void write_conversion(JsonText& json, const app::BatchJob& job, const app::BatchResult& result);

/// `INPUT -> OUTPUT: 485,788 B to 12.3 KiB (38.6x), 2,351 samples, 661 callstacks, 0.02 s`.
std::string conversion_line(const app::BatchJob& job, const app::BatchResult& result);

/// The input as messages name it: with the member of an archive.
std::string input_name(const app::BatchJob& job);

}  // namespace stackpack::cli
