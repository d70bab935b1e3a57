// What docs/format.md says about the rows of tables beyond the limits of each field: their order,
// which keys come once, and that nothing ends before it begins.
#pragma once

#include <span>

#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Errors of all: kCorrupt, with the rule that is broken.
Status check_processes(std::span<const Process> rows);
Status check_threads(std::span<const Thread> rows);
Status check_modules(std::span<const Module> rows);
Status check_metadata(std::span<const MetadataEntry> rows);
Status check_control_groups(std::span<const ControlGroup> rows);
Status check_stack_counts(std::span<const StackCount> rows);

/// The lists of the summary.
Status check_losses(std::span<const LossCounter> rows);
Status check_skips(std::span<const SkippedBytesCount> rows);

}  // namespace stackpack::spk
