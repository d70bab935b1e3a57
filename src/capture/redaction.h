#pragma once

#include <string>
#include <string_view>

#include "capture/system_tables.h"

namespace stackpack::capture {

/// Takes out of the tables what shows who recorded a capture, where, and with which arguments:
/// command lines (emptied), the host's name and the recorder's command line (rows dropped), and
/// user names in every path. Names of programs, threads and images stay, and so do all numbers.
void redact(SystemTables& tables);

/// Whether an attribute of OpenTelemetry, by its key with anything in front, says on whose machine
/// or with which arguments a program ran.
bool is_identifying(std::string_view key);

/// `text` with USER in place of the user name in each home directory: `/home/NAME/...`,
/// `/Users/NAME/...`, `C:\Users\NAME\...`, `\Documents and Settings\NAME\...`, in any spelling of
/// upper and lower case.
std::string without_user_names(std::string_view text);

}  // namespace stackpack::capture
