#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::spk {

/// The reasons of waits; none in a file without intervals. Errors: kIo, kCorrupt.
Result<std::vector<std::string>> read_wait_reasons(BlockReader& blocks, const Directory& directory);

/// Visits the intervals that match, block by block. Errors: kIo, kCorrupt: rows that name a
/// callstack or reason that is not there, or are not as many as the directory says.
Status read_intervals(BlockReader& blocks, const Directory& directory, std::uint64_t stacks,
                      const WaitQuery& query,
                      const std::function<bool(std::span<const WaitInterval>)>& visit);

}  // namespace stackpack::spk
