#include <exception>
#include <new>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/console.h"
#include "cli/exit_codes.h"
#include "cli/program.h"

namespace {

// Blocks from 2 MiB on are mapped on their own, and unmapped when they are freed. By default
// the C library comes to keep freed blocks of up to 32 MiB in the heap of the thread that had them,
// where the phases that follow, on other threads, cannot use them: memory beyond --memory-limit.
void keep_no_freed_blocks() {
#ifdef __GLIBC__
  constexpr int kLargeBlock = 2 << 20;
  constexpr int kMostKept = 8 << 20;  // at the end of a heap
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  ::mallopt(M_TRIM_THRESHOLD, kMostKept);
#endif
}

}  // namespace

// Our code throws nothing; what is caught here comes from the libraries below it.
int main(int argc, char** argv) {
  keep_no_freed_blocks();
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
