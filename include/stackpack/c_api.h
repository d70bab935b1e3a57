/* Reads .spk files from C and from whatever can call C.
 *
 * Handles are opaque. A function that can fail returns a stackpack_status; what is meant for the
 * caller comes back through pointers, which are not written on failure unless it says so. No
 * exception crosses this interface; when memory runs out that is STACKPACK_OUT_OF_MEMORY.
 *
 * Threads: a reader may be used by any number of threads at once, and so may what is made from it.
 * Lifetime: a reader lives until stackpack_close, which takes NULL, too; strings live as long as it
 * says at the function.
 * Growth: later versions add fields at the end of a struct whose first field is struct_size. Set it
 * to sizeof of the struct before the call: no more than that is written, so that a program and a
 * library of different versions fit. One that was not set (0) is STACKPACK_USAGE. Where there is an
 * array of a struct, the call takes its `row_size` instead: sizeof of the struct, which is how far
 * its rows lie apart. The structs without either, stackpack_text, stackpack_frame, stackpack_query,
 * stackpack_epoch and stackpack_diff_figure, do not grow. Units: ns of the capture's clock, and
 * bytes.
 *
 * The headers are C89 with stdint.h, and C++.
 *
 * A program includes this header, or of its parts the ones that it needs.
 */
#ifndef STACKPACK_C_API_H
#define STACKPACK_C_API_H

#include "stackpack/c_convert.h"
#include "stackpack/c_diff.h"
#include "stackpack/c_reader.h"
#include "stackpack/c_tables.h"

#endif /* STACKPACK_C_API_H */
