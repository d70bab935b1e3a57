// What conditions need to be compared.
#pragma once

#include <span>

#include "stackpack/diff.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// compare_profiles with `options`, and after its events those that `conditions` are about besides:
/// shares, or costs of another kind. What the files do not have is left out; the conditions about
/// it are undecided. Errors: as compare_profiles.
Result<DiffReport> compare_for_gate(std::span<const Reader* const> before,
                                    std::span<const Reader* const> after,
                                    const DiffOptions& options,
                                    std::span<const GateCondition> conditions);

}  // namespace stackpack::app
