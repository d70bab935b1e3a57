// What the captures of one side of a comparison have lost, for its page.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "export/html/page_content.h"
#include "stackpack/reader.h"

namespace stackpack::app {

/// The counters of the captures, summed up by name over the runs of the side, then the samples that
/// are no callstacks. `label`: of the side, stands before each text. `without_callstack`: samples
/// of the comparison that have none.
std::vector<exporting::PageLoss> losses_of_side(std::span<const Reader* const> runs,
                                                std::string_view label,
                                                std::uint64_t without_callstack);

}  // namespace stackpack::app
