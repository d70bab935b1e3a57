/* A program that loads the C API of a wheel, as Python's cffi does, and converts: load_library
 * LIBRARY CAPTURE OUTPUT */
#include <stdio.h>
#include <windows.h>

#include "c_api.h"

typedef stackpack_status (*convert_function)(const char*, const char*,
                                             const stackpack_convert_options*,
                                             stackpack_convert_report*);

int main(int count, char** arguments) {
  if (count != 4) {
    return 64;
  }
  const HMODULE library = LoadLibraryA(arguments[1]);
  if (library == NULL) {
    fprintf(stderr, "%s: cannot be loaded (%lu)\n", arguments[1], GetLastError());
    return 1;
  }
  const convert_function convert =
      (convert_function)(void*)GetProcAddress(library, "stackpack_convert");
  if (convert == NULL) {
    fprintf(stderr, "%s: no stackpack_convert\n", arguments[1]);
    return 1;
  }
  return (int)convert(arguments[2], arguments[3], NULL, NULL);
}
