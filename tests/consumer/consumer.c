/* Opens a .spk file through the installed C header and library alone, and names a callstack. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stackpack/c_api.h"

/* Prints where the frames of a callstack lie. 0: all went well. */
static int print_locations(const stackpack_reader* reader, uint32_t stack) {
  stackpack_symbols* symbols = NULL;
  stackpack_frame frames[64];
  stackpack_query queries[64];
  stackpack_location locations[64];
  size_t depth = 0;
  if (stackpack_load_symbols(reader, &symbols) != STACKPACK_OK ||
      stackpack_get_callstack(reader, stack, frames, 64, &depth) != STACKPACK_OK) {
    return 1;
  }
  depth = depth < 64 ? depth : 64;
  for (size_t i = 0; i < depth; ++i) {
    queries[i].frame = frames[i];
    queries[i].pid = STACKPACK_UNKNOWN_ID;
    queries[i].is_return_address = i != 0;
    queries[i].time_ns = 0;
  }
  const stackpack_status status =
      stackpack_locate_all(symbols, queries, depth, locations, sizeof locations[0]);
  for (size_t i = 0; i < depth && status == STACKPACK_OK; ++i) {
    printf("%llx %.*s %.*s\n", (unsigned long long)frames[i].address, (int)locations[i].module.size,
           locations[i].module.data == NULL ? "" : locations[i].module.data,
           (int)locations[i].function.size,
           locations[i].function.data == NULL ? "" : locations[i].function.data);
  }
  stackpack_free_symbols(symbols);
  return status != STACKPACK_OK || depth == 0;
}

/* Merges a file by itself into another. 0: all went well. */
static int merge_into(const char* input, const char* output) {
  stackpack_merge_report report = {.struct_size = sizeof report};
  return stackpack_merge(&input, 1, output, NULL, &report, NULL) != STACKPACK_OK ||
         report.sources != 1 || report.samples == 0;
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    return 1;
  }
  if (argc == 3 && merge_into(argv[1], argv[2]) != 0) {
    return 1;
  }
  stackpack_reader* reader = NULL;
  if (stackpack_open(argv[1], 0, &reader) != STACKPACK_OK) {
    stackpack_error error = {.struct_size = sizeof error};
    stackpack_get_error(&error);
    fprintf(stderr, "%s\n", error.what);
    return 1;
  }
  stackpack_summary summary = {.struct_size = sizeof summary};
  const stackpack_status status = stackpack_get_summary(reader, &summary);
  const int named = print_locations(reader, 0);
  stackpack_close(reader);
  printf("%llu samples\n", (unsigned long long)summary.samples);
  return status == STACKPACK_OK && summary.samples > 0 && named == 0 ? 0 : 1;
}
