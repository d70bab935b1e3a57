/* Merges captures and .spk files of many machines into one file.
 *
 *   merge_captures OUT.spk INPUT...
 *
 * Build: cc -std=c11 merge_captures.c $(pkg-config --cflags --libs stackpack)
 */
#include <inttypes.h>
#include <stdio.h>

#include "stackpack/c_api.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s OUT.spk INPUT...\n", argv[0]);
    return 1;
  }
  const char* const* const inputs = (const char* const*)(argv + 2);
  const size_t count = (size_t)argc - 2;
  stackpack_merge_report report = {.struct_size = sizeof report};
  size_t failed = count;
  if (stackpack_merge(inputs, count, argv[1], NULL, &report, &failed) != STACKPACK_OK) {
    stackpack_error error = {.struct_size = sizeof error};
    stackpack_get_error(&error);
    fprintf(stderr, "%s: %s\n", failed < count ? inputs[failed] : argv[1], error.what);
    return 2;
  }
  printf("%" PRIu64 " sources, %" PRIu64 " samples, %" PRIu64 " callstacks of %" PRIu64 "\n",
         report.sources, report.samples, report.callstacks, report.callstacks_before);
  return 0;
}
