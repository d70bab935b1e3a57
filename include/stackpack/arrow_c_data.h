/* The C data interface and the C stream interface of Apache Arrow, as its specification has them:
 * three structs, no library. Guarded as there, so that Arrow's own headers may be included as well.
 */
#ifndef STACKPACK_ARROW_C_DATA_H
#define STACKPACK_ARROW_C_DATA_H

#include <stdint.h>

/* Names as Arrow has them. */
/* NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* What a column is. Whoever got it calls release once, which sets release to NULL. */
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

/* The values of a column. As with ArrowSchema; a child may be taken out by moving it: copied, its
 * release set to NULL. */
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Batches of one schema. get_schema and get_next return 0 or an errno; an array whose release is
 * NULL is the end. get_last_error: why the last call failed, valid until the next one. One thread
 * at a time. */
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STACKPACK_ARROW_C_DATA_H */
/* NOLINTEND(readability-identifier-naming) */
