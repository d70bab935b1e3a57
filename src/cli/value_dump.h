#pragma once

#include <string>
#include <vector>

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "cli/messages.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Which values are listed.
struct ListedValues {
  std::vector<std::string> kinds{};  ///< patterns, one of which fits the kind's name; none: all
  bool own = false;                  ///< of kinds alone that the capture describes: tracepoints
};

/// Lists the values of events in order of time: a line of names, a line a row; each field as
/// NAME=VALUE, `-` where it has none.
Status dump_event_values(const Reader& reader, const ListedValues& which, bool as_json,
                         app::TextOutput& out);

/// Lists the fields of samples in the order of the samples, each named by its number in
/// `dump --samples`, from 0 on: a line of names, a line a row, `-` where a field was not recorded;
/// as JSON only what was.
Status dump_sample_fields(const Reader& reader, bool as_json, app::TextOutput& out);

/// Lists the sets of labels, a line or object for each label: the number of its set, key, value.
Status dump_labels(const Reader& reader, bool as_json, app::TextOutput& out);

/// dump --events-of: a line or object for each event of a capture. What could not be decoded is
/// said on standard error.
Status dump_provider_events(const DumpArguments& arguments, const Messages& messages,
                            app::TextOutput& out);

}  // namespace stackpack::cli
