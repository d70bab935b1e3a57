#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::io {

/// Another program that does something for this one.
struct ClientProgram {
  std::vector<std::string> words;        ///< name, looked for in $PATH, and arguments
  std::vector<std::string> environment;  ///< NAME=VALUE, instead of what this process has
  unsigned seconds = 0;                  ///< after these it is ended
};

/// Runs it to its end, with all it says left out. `goes_on` is asked ten times a second: false ends
/// it. The status with which it ended; -1: a signal, or one of these ends.
/// Errors: kNotFound: no such program; kResource.
Result<int> run_client(const ClientProgram& program, const std::function<bool()>& goes_on);

}  // namespace stackpack::io
