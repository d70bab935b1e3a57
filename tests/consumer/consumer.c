/* Opens a .spk file through the installed C header and library alone. */
#include <stdio.h>

#include "stackpack/c_api.h"

int main(int argc, char** argv) {
  if (argc != 2) {
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
  stackpack_close(reader);
  printf("%llu samples\n", (unsigned long long)summary.samples);
  return status == STACKPACK_OK && summary.samples > 0 ? 0 : 1;
}
