#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/console.h"
#include "cli/exit_codes.h"
#include "cli/program.h"

// Our code throws nothing; what is caught here comes from the libraries below it.
int main(int argc, char** argv) {
  try {
    return stackpack::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    stackpack::app::write_standard_error("stackpack: out of memory\n");
    return stackpack::cli::kExitIo;
  } catch (const std::exception& failure) {
    stackpack::app::write_standard_error("stackpack: internal error: ");
    stackpack::app::write_standard_error(failure.what());
    stackpack::app::write_standard_error("\n");
    return stackpack::cli::kExitInternal;
  }
}
