#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/redact/redacted_names.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct RedactOptions {
  std::vector<std::string> kept_modules;  ///< patterns
  std::optional<std::string> key;
  bool force = false;  ///< the output may be any file
};

/// Writes the .spk file `input` without names that tell whose it is: callstacks, samples, counts,
/// intervals, branches, fields of samples, names of events and numbers of values of events stay
/// byte by byte. Texts of values have stand-ins; values of kinds that this program does not know
/// are left out, all of them, and counted. The same input, key and patterns give the same bytes. It
/// has no fingerprint and no identity. Errors: those of opening a .spk file and of
/// Reader::verify(); kUnsupported for a merged one; of the output those of check_output()
/// and kIo, with Error::part kOutputPart.
Result<RedactedCounts> redact_file(const std::string& input, const std::string& output,
                                   const RedactOptions& options);

}  // namespace stackpack::app
