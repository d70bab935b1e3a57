#pragma once

#include <string>
#include <vector>

#include "app/listing/text_output.h"
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

}  // namespace stackpack::cli
