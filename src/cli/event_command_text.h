// What gc, exceptions, info, io, jit, locks and mem print.
#pragma once

#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

struct EventReportText {
  std::string text;
  std::string_view lacking;  ///< what to record, where the file has nothing for the report
};

/// As text or as JSON, as the arguments say. Errors: those of the reader, and of symbol bundles.
Result<EventReportText> event_report_text(const Reader& reader,
                                          const EventReportArguments& arguments);

}  // namespace stackpack::cli
