#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stackpack/result.h"

namespace stackpack::app {

/// Where a report goes that is no plain text of the terminal.
struct ReportFile {
  std::string path;  ///< "-": standard output
  bool force = false;
  std::span<const std::string> inputs;  ///< that it must not replace
};

/// Writes all of `text`; the file appears whole or not at all.
/// Errors: those of the output rules, kIo; of the output's part.
Status write_report_file(const ReportFile& file, std::string_view text);

/// The absolute path of the directory that relative paths begin at; empty where nobody knows.
std::string working_directory();

/// Where a relative path of a file that a person wrote leads: from the folder of that file on.
std::string path_beside(const std::string& file, const std::string& path);

}  // namespace stackpack::app
