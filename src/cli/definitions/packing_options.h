#pragma once

#include <cstdint>
#include <string>

#include "cli/arguments.h"
#include <CLI/CLI.hpp>

// The options that all commands have which pack captures into a .spk file, in their groups. Each
// adds one to a command and gives it back; what it fills must live as long as the command.
namespace stackpack::cli {

/// --files-from
CLI::Option* add_files_from(CLI::App& command, std::string& list);

/// -o, --output
CLI::Option* add_output(CLI::App& command, std::string& output);

/// --force
CLI::Option* add_force(CLI::App& command, bool& force);

/// --level; `more`: what else is to be said of it.
CLI::Option* add_level(CLI::App& command, const std::string& more, int& level);

/// --no-samples
CLI::Option* add_no_samples(CLI::App& command, bool& samples);

/// --time-resolution, which does not go with `no_samples`.
CLI::Option* add_time_resolution(CLI::App& command, CLI::Option* no_samples,
                                 std::uint64_t& resolution_ns);

/// --progress
CLI::Option* add_progress(CLI::App& command, const std::string& text, ProgressMode& mode);

}  // namespace stackpack::cli
