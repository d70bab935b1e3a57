/* The C API's statuses and errors, and what is read from a .spk file: callstacks, names, samples.
 * stackpack/c_api.h says what holds for all of it. */
#ifndef STACKPACK_C_READER_H
#define STACKPACK_C_READER_H

#include <stddef.h>
#include <stdint.h>

/* Names as C libraries have them. */
/* NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum stackpack_status {
  STACKPACK_OK = 0,
  STACKPACK_IO = 1,          /* the operating system refused to open or read */
  STACKPACK_NOT_FOUND = 2,   /* there is no such file */
  STACKPACK_TRUNCATED = 3,   /* the end of the file is missing */
  STACKPACK_CORRUPT = 4,     /* the file contradicts the format or itself */
  STACKPACK_UNSUPPORTED = 5, /* the file is of a newer version, or a folder */
  STACKPACK_LIMIT = 6,       /* the file is larger than this program can hold */
  STACKPACK_USAGE = 7,       /* the call makes no sense: a null pointer, an unknown id */
  STACKPACK_OUT_OF_MEMORY = 8,
  STACKPACK_CANCELLED = 9 /* stackpack_cancel was called */
} stackpack_status;

/* A static text for a status: "file is damaged", ... Never NULL. */
const char* stackpack_status_text(stackpack_status status);

#define STACKPACK_NO_OFFSET UINT64_MAX

typedef struct stackpack_error {
  size_t struct_size;
  stackpack_status status;
  int os_error;       /* errno, when the operating system gave one; else 0 */
  uint64_t offset;    /* in the .spk file; STACKPACK_NO_OFFSET: not tied to a place */
  const char* what;   /* structure and cause, static; never NULL */
  uint32_t of_output; /* not 0: it happened to the output, not to an input */
  /* Of a capture that no format is sure to be: `not read as FORMAT: WHY` for each, with line feeds
   * between them. Never NULL; valid until the next function of this thread fails. */
  const char* tried;
} stackpack_error;

/* Why the latest function that failed in this thread did. status is STACKPACK_OK when none has. */
stackpack_status stackpack_get_error(stackpack_error* error);

/* Bytes without a terminator, which live as long as what they were got from. data is NULL when size
 * is 0. */
typedef struct stackpack_text {
  const char* data;
  size_t size;
} stackpack_text;

/* ---- the file ---- */

typedef struct stackpack_reader stackpack_reader;

/* Opens a file. `cache_bytes`: upper bound of the page cache, 0 for the default of 64 MiB.
 * On failure *reader is NULL. */
stackpack_status stackpack_open(const char* path, uint64_t cache_bytes, stackpack_reader** reader);

/* The same for a file in memory, which must outlive the reader. */
stackpack_status stackpack_open_memory(const void* data, size_t size, uint64_t cache_bytes,
                                       stackpack_reader** reader);

void stackpack_close(stackpack_reader* reader);

/* Reads everything and checks it. Takes as long as reading the file. */
stackpack_status stackpack_verify(const stackpack_reader* reader);

typedef struct stackpack_summary {
  size_t struct_size;
  uint64_t file_bytes;
  uint64_t source_bytes; /* of the capture */
  uint64_t samples;
  uint64_t recorded_samples; /* those with a recorded callstack */
  uint64_t raw_frames;       /* of all recorded samples */
  uint64_t unique_stacks;    /* distinct recorded callstacks */
  uint64_t stacks;           /* callstack ids in the file are 0 .. stacks - 1 */
  uint64_t nodes;
  uint64_t distinct_frames;
  uint64_t max_depth;
  uint32_t has_samples; /* 0: the file has counts of samples only */
} stackpack_summary;

stackpack_status stackpack_get_summary(const stackpack_reader* reader, stackpack_summary* summary);

/* ---- callstacks ---- */

typedef enum stackpack_mode {
  STACKPACK_MODE_UNKNOWN = 0,
  STACKPACK_MODE_KERNEL = 1,
  STACKPACK_MODE_USER = 2,
  STACKPACK_MODE_HYPERVISOR = 3,
  STACKPACK_MODE_GUEST = 4,
  STACKPACK_MODE_GUEST_KERNEL = 5,
  STACKPACK_MODE_GUEST_USER = 6
} stackpack_mode;

typedef struct stackpack_frame {
  uint64_t address;
  uint32_t mode; /* a stackpack_mode */
} stackpack_frame;

#define STACKPACK_NO_STACK UINT32_MAX

/* The frames of callstack `id`, leaf first. *depth becomes the number of its frames; at most
 * `capacity` of them are written to `frames` (which may be NULL when capacity is 0). */
stackpack_status stackpack_get_callstack(const stackpack_reader* reader, uint32_t id,
                                         stackpack_frame* frames, size_t capacity, size_t* depth);

/* ---- names ---- */

typedef struct stackpack_symbols stackpack_symbols;

/* What a file says of addresses, for any number of threads. It stays good when the reader is closed
 * and lives until stackpack_free_symbols, which takes NULL, too. */
stackpack_status stackpack_load_symbols(const stackpack_reader* reader,
                                        stackpack_symbols** symbols);
void stackpack_free_symbols(stackpack_symbols* symbols);

#define STACKPACK_NO_INLINE UINT32_MAX

/* Where a frame lies. Texts that are not known are empty. */
typedef struct stackpack_location {
  stackpack_text module;    /* path of the image */
  uint64_t offset;          /* of the address in that file */
  stackpack_text function;  /* as people read it */
  stackpack_text linkage;   /* as linked */
  uint64_t function_offset; /* address - first byte of the function */
  stackpack_text file;      /* of the innermost inlined call, or of the function */
  uint32_t line;            /* 0: not known */
  uint32_t inlined;         /* for stackpack_expand; STACKPACK_NO_INLINE: no inlined call */
  uint32_t has_address;     /* 0: of an imported profile, a name (or none) and nothing else */
} stackpack_location;

/* The locations of the frames of a callstack, leaf first, in a process at a time. The leaf and the
 * first user frame after a kernel part are exact addresses; the others are return addresses, and
 * are looked up one byte before. `locations` has room for `count` rows of row_size. */
stackpack_status stackpack_locate(const stackpack_symbols* symbols, const stackpack_frame* frames,
                                  size_t count, uint32_t pid, uint64_t time_ns,
                                  stackpack_location* locations, size_t row_size);

/* An address of a process at a time. */
typedef struct stackpack_query {
  stackpack_frame frame;
  uint32_t pid;
  uint32_t is_return_address; /* not 0: look up what is one byte before, as callers are */
  uint64_t time_ns;
} stackpack_query;

/* The locations of any frames, each asked for by itself; `locations` has room for `count` rows of
 * row_size. Together they cost less than one by one. */
stackpack_status stackpack_locate_all(const stackpack_symbols* symbols,
                                      const stackpack_query* queries, size_t count,
                                      stackpack_location* locations, size_t row_size);

/* A stretch of time in which addresses of a process mean the same. */
typedef struct stackpack_epoch {
  uint64_t number;      /* unique within a pid */
  uint64_t valid_until; /* first time of the next one */
} stackpack_epoch;

/* The epoch of a process at a time; those of STACKPACK_UNKNOWN_ID are for the kernel's addresses.
 */
stackpack_status stackpack_get_epoch(const stackpack_symbols* symbols, uint32_t pid,
                                     uint64_t time_ns, stackpack_epoch* epoch);

/* The functions that a location belongs to when calls were inlined, innermost first, the one that
 * has the code last: function, linkage, file and line of each, the rest is as in `location`. *count
 * becomes their number; at most `capacity` are written to `chain`, which may be NULL when capacity
 * is 0. row_size is that of `location` and of the rows of `chain`. */
stackpack_status stackpack_expand(const stackpack_symbols* symbols,
                                  const stackpack_location* location, stackpack_location* chain,
                                  size_t capacity, size_t row_size, size_t* count);

/* ---- samples ---- */

#define STACKPACK_UNKNOWN_ID UINT32_MAX /* pid, tid or cpu that was not recorded */

typedef struct stackpack_sample {
  uint64_t time_ns;
  uint64_t weight;
  uint32_t pid;
  uint32_t tid;
  uint32_t cpu;
  uint32_t event; /* index of the event */
  uint32_t stack; /* callstack id or STACKPACK_NO_STACK */
  uint8_t origin; /* 0 none, 1 made of an instruction pointer, 2 recorded, 3 unwound */
  uint8_t flags;
} stackpack_sample;

/* Called with samples, at least one, which live during the call and lie as far apart as the
 * caller's row_size says. Not 0: stop. Must not throw. */
typedef int (*stackpack_sample_visitor)(void* context, const stackpack_sample* samples,
                                        size_t count);

/* Visits the samples from `from_ns` to `to_ns`, both inclusive, in the order of the capture; of one
 * process or thread when `pid` or `tid` is not NULL. Parts of the file outside the time range are
 * not read. STACKPACK_USAGE: the file has counts of samples only. */
stackpack_status stackpack_visit_samples(const stackpack_reader* reader, uint64_t from_ns,
                                         uint64_t to_ns, const uint32_t* pid, const uint32_t* tid,
                                         size_t row_size, stackpack_sample_visitor visitor,
                                         void* context);

/* The name of an event, which lives as long as the reader; STACKPACK_USAGE: there is no such event.
 */
stackpack_status stackpack_get_event_name(const stackpack_reader* reader, uint32_t event,
                                          const char** name);

/* Samples of one callstack, event, process and origin, of a file written without samples. */
typedef struct stackpack_stack_count {
  uint64_t samples;
  uint64_t weight;
  uint32_t stack; /* callstack id or STACKPACK_NO_STACK */
  uint32_t event;
  uint32_t pid;
  uint32_t origin; /* as in stackpack_sample */
} stackpack_stack_count;

/* Called with counts, at least one, which live during the call and lie as far apart as the caller's
 * row_size says. Not 0: stop. Must not throw. */
typedef int (*stackpack_count_visitor)(void* context, const stackpack_stack_count* counts,
                                       size_t count);

/* Visits the counts of a file without samples. STACKPACK_USAGE: the file has samples. */
stackpack_status stackpack_visit_counts(const stackpack_reader* reader, size_t row_size,
                                        stackpack_count_visitor visitor, void* context);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STACKPACK_C_READER_H */
/* NOLINTEND(readability-identifier-naming) */
