// What a report of a capture does not show, since the capture does not have it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/selection/sample_selection.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"

namespace stackpack::query {

/// Samples that a report shows, and those of them whose callstack does not reach its root.
struct CutStacks {
  std::uint64_t samples = 0;
  std::uint64_t cut = 0;
};

/// Of the samples of a selection, as it is when they have been counted; with `shown`, of those
/// whose callstack is marked there, the last place being that of samples without one. Nothing where
/// no callstack of the file is cut, or where the file does not say it of single samples. Reads the
/// samples once more if need be.
std::optional<CutStacks> cut_stacks_of(const Reader& reader, SampleSelection& selection,
                                       const std::vector<bool>& shown = {});

/// A line each: that the capture is truncated or damaged, that samples were lost while it was
/// recorded, what share of callstacks does not reach its root, that its intervals are those of an
/// older program, and that switches were sampled. None of a sound capture. The share is that of
/// `stacks`; without it, of all samples of the file.
std::vector<std::string> cut_notices(const Reader& reader,
                                     const std::optional<CutStacks>& stacks = {});
/// The same of the samples that these options choose.
std::vector<std::string> cut_notices(const Reader& reader, const ExportOptions& options,
                                     const SelectionRules& rules = {});
/// The same of a file whose intervals are not old.
std::vector<std::string> cut_notices(const Statistics& statistics,
                                     const std::optional<CutStacks>& stacks = {});

}  // namespace stackpack::query
