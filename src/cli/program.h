#pragma once

#include <string>
#include <vector>

namespace stackpack::cli {

/// The whole program: `arguments` without its name. Returns the exit code.
int run_program(std::vector<std::string> arguments);

}  // namespace stackpack::cli
