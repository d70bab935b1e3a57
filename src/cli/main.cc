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

// Our code throws nothing; what is caught here comes from the libraries below it.
template <typename Arguments>
int run(const Arguments& arguments) {
  keep_no_freed_blocks();
  try {
    return stackpack::cli::run_program(arguments());
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

}  // namespace

#ifdef _WIN32
// Shells of Windows leave *.spk to the program.
extern "C" {
int _dowildcard = -1;  // NOLINT: the C library looks for it
}

int wmain(int argc, wchar_t** argv) {
  return run([=] {
    std::vector<std::string> arguments;
    arguments.reserve(static_cast<std::size_t>(argc));
    for (int i = 1; i < argc; ++i) {
      arguments.push_back(stackpack::app::to_utf8(argv[i]));
    }
    return arguments;
  });
}
#else
int main(int argc, char** argv) {
  return run([=] { return std::vector<std::string>(argv + 1, argv + argc); });
}
#endif
