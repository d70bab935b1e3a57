#pragma once

#include <cstddef>
#include <optional>

#include "export/export_job.h"
#include "export/html/page_content.h"
#include "export/html/page_tree.h"
#include "export/html/sample_survey.h"

namespace stackpack::exporting {

/// Rows that a timeline has at most: they add about a megabyte to a page.
inline constexpr std::size_t kMostTimeRows = std::size_t{1} << 19;

/// The samples over time, as finely as they fit; nothing when they have no times, or when threads
/// and events alone are too many. `content` has what `tree` moved there.
/// Reads the samples once, or some times when callstacks have to be cut.
/// Memory: that of SampleNodes with half of the export's limit, some times 40 bytes a row, 12 a
/// node
///         when callstacks are cut.
/// Errors: those of the selection and of the reader.
Result<std::optional<PageTimeline>> page_timeline(ExportJob& job, PageTree& tree,
                                                  const PageContent& content,
                                                  const SampleSurvey& survey);

}  // namespace stackpack::exporting
