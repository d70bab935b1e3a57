#pragma once

#include <cstdint>
#include <string>

#include "cli/arguments.h"
#include "cli/option_rows.h"

// The options that all commands have which pack captures into a .spk file, in their groups. Each
// adds one to a command and gives it back; what it fills must live as long as the command.
namespace stackpack::cli {

/// --files-from
OptionRow* add_files_from(CommandRow& command, std::string& list);

/// -o, --output
OptionRow* add_output(CommandRow& command, std::string& output);

/// --force
OptionRow* add_force(CommandRow& command, bool& force);

/// IN.spk, --output and --force of a command that makes a .spk file of a .spk file.
void add_file_to_file(CommandRow& command, std::string& file, std::string& output, bool& force);

/// --level; `more`: what else is to be said of it.
OptionRow* add_level(CommandRow& command, const std::string& more, int& level);

/// --no-samples
OptionRow* add_no_samples(CommandRow& command, bool& samples);

/// --time-resolution, which does not go with `no_samples`.
OptionRow* add_time_resolution(CommandRow& command, OptionRow* no_samples,
                               std::uint64_t& resolution_ns);

/// --progress
OptionRow* add_progress(CommandRow& command, const std::string& text, ProgressMode& mode);

}  // namespace stackpack::cli
