// What docs/format.md says about the rows of tables beyond the limits of each field: their order,
// which keys come once, that nothing ends before it begins, and how much there may be of each. The
// writer asks here what it may write, and `verify` what it may have read.
#pragma once

#include <span>
#include <string>

#include "spk/format/directory.h"
#include "spk/format/table_codec.h"
#include "stackpack/event_values.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::spk {

/// Errors of all: kCorrupt, with the rule that is broken.
Status check_processes(std::span<const Process> rows);
Status check_threads(std::span<const Thread> rows);
Status check_modules(std::span<const Module> rows);
Status check_metadata(std::span<const MetadataEntry> rows);
Status check_control_groups(std::span<const ControlGroup> rows);
Status check_stack_counts(std::span<const StackCount> rows);
Status check_sources(std::span<const SourceRow> rows);
Status check_wait_reasons(std::span<const std::string> reasons);
Status check_value_kinds(std::span<const ValueSchema> kinds);
Status check_value_texts(std::span<const std::string> texts);

/// Gives modules the files that the rows of module_files say. Rows ascend by module.
Status take_module_files(std::span<const ModuleFile> rows, std::span<Module> modules);

/// Whether a sample of that origin may have that callstack.
constexpr bool fits_callstack(StackOrigin origin, StackId stack) {
  return (origin == StackOrigin::kNone) == (stack == kNoStack);
}

/// The lists of the summary, and where the bytes of the capture went. Summaries of older writers do
/// not have that, or not the reasons.
Status check_summary(const Statistics& statistics);
/// What the summary says of the sizes of sections.
Status check_stored_bytes(const Statistics& statistics, const Directory& directory);

}  // namespace stackpack::spk
