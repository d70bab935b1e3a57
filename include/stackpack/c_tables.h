/* The C API's tables: those of the system that was recorded, and Arrow streams of every table.
 * stackpack/c_api.h says what holds for all of it. */
#ifndef STACKPACK_C_TABLES_H
#define STACKPACK_C_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "stackpack/arrow_c_data.h"
#include "stackpack/c_reader.h"

/* Names as C libraries have them. */
/* NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the system that was recorded ---- */

typedef struct stackpack_tables stackpack_tables;

/* Reads events, processes, threads, modules and metadata. They stay good when the reader is closed
 * and live until stackpack_free_tables, which takes NULL, too; so do the texts of their rows. */
stackpack_status stackpack_load_tables(const stackpack_reader* reader, stackpack_tables** tables);
void stackpack_free_tables(stackpack_tables* tables);

typedef struct stackpack_table_sizes {
  size_t struct_size;
  size_t events; /* rows; a row's number is below */
  size_t processes;
  size_t threads;
  size_t modules;
  size_t metadata;
} stackpack_table_sizes;

stackpack_status stackpack_get_table_sizes(const stackpack_tables* tables,
                                           stackpack_table_sizes* sizes);

#define STACKPACK_UNKNOWN_TIME UINT64_MAX /* before or after the capture */
#define STACKPACK_KERNEL_PID UINT32_MAX   /* owner of an image that every process shares */

typedef struct stackpack_event {
  size_t struct_size;
  stackpack_text name;
  uint32_t has_weight; /* 1: weights of samples are recorded periods */
} stackpack_event;

/* One life of a process; an exec begins another one. */
typedef struct stackpack_process {
  size_t struct_size;
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t inherits_mappings; /* 1: forked, so the parent's mappings of start_ns are its own */
  stackpack_text name;
  stackpack_text command_line;
} stackpack_process;

/* One life of a thread, under one name. */
typedef struct stackpack_thread {
  size_t struct_size;
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t pid;
  uint32_t tid;
  stackpack_text name;
} stackpack_thread;

typedef enum stackpack_build_id_kind {
  STACKPACK_BUILD_ID_NONE = 0,
  STACKPACK_BUILD_ID_GNU = 1, /* the bytes of the note */
  STACKPACK_BUILD_ID_PDB = 2  /* 16 bytes GUID as stored by Windows, 4 bytes age, little-endian */
} stackpack_build_id_kind;

/* One mapped image during one time range in one process. */
typedef struct stackpack_module {
  size_t struct_size;
  uint64_t base;
  uint64_t size;
  uint64_t file_offset; /* offset in the file that is mapped at base */
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t pid;
  uint32_t build_id_kind; /* a stackpack_build_id_kind */
  const uint8_t* build_id;
  size_t build_id_size;
  stackpack_text path;
  stackpack_text debug_name; /* name of the PDB file */
} stackpack_module;

typedef struct stackpack_metadata {
  size_t struct_size;
  stackpack_text key;
  stackpack_text value;
} stackpack_metadata;

/* A row of a table, which are ordered as docs/format.md says. STACKPACK_USAGE: there is no such
 * row.
 */
stackpack_status stackpack_get_event(const stackpack_tables* tables, size_t row,
                                     stackpack_event* event);
stackpack_status stackpack_get_process(const stackpack_tables* tables, size_t row,
                                       stackpack_process* process);
stackpack_status stackpack_get_thread(const stackpack_tables* tables, size_t row,
                                      stackpack_thread* thread);
stackpack_status stackpack_get_module(const stackpack_tables* tables, size_t row,
                                      stackpack_module* module);
stackpack_status stackpack_get_metadata(const stackpack_tables* tables, size_t row,
                                        stackpack_metadata* metadata);

/* ---- Arrow ---- */

/* What there are streams of; docs/arrow.md has the columns. */
typedef enum stackpack_table {
  STACKPACK_TABLE_SAMPLES = 0,
  STACKPACK_TABLE_CALLSTACKS = 1, /* a tree: id, parent, frame */
  STACKPACK_TABLE_FRAMES = 2,     /* function, image, line, address */
  STACKPACK_TABLE_FUNCTIONS = 3,
  STACKPACK_TABLE_MODULES = 4,
  STACKPACK_TABLE_PROCESSES = 5,
  STACKPACK_TABLE_THREADS = 6,
  STACKPACK_TABLE_EVENTS = 7,
  STACKPACK_TABLE_SOURCES = 8, /* captures that the file was made of */
  STACKPACK_TABLE_LOSSES = 9,
  STACKPACK_TABLE_METADATA = 10,
  STACKPACK_TABLE_COUNTS = 11,        /* samples by callstack, event, process and origin */
  STACKPACK_TABLE_TOP = 12,           /* what the command `top` shows */
  STACKPACK_TABLE_BRANCHES = 13,      /* of captures with branch stacks, summed up */
  STACKPACK_TABLE_RANGES = 14,        /* how often code between taken branches ran through */
  STACKPACK_TABLE_INTERVALS = 15,     /* when threads ran and waited */
  STACKPACK_TABLE_EVENT_VALUES = 16,  /* what events say, a row for each field */
  STACKPACK_TABLE_SAMPLE_FIELDS = 17, /* accesses to memory and control groups of samples */
  STACKPACK_TABLE_BRANCH_STACKS = 18  /* of samples, where they were kept, a row for each branch */
} stackpack_table;

/* "samples", ...: a static text; NULL: there is no such table. */
const char* stackpack_table_name(uint32_t table);

/* Zeros and NULLs are the whole table. */
typedef struct stackpack_stream_options {
  size_t struct_size;
  uint32_t batch_rows;        /* at most, up to 2^24; 0: 65536 */
  uint32_t any_order;         /* samples: not 0, not in order of time, which is cheaper */
  uint64_t from_ns;           /* samples, counts and top: first time, inclusive */
  uint64_t to_ns;             /* last time, inclusive; 0: no end, unless `ends` is set */
  const char* const* columns; /* those wanted, in their order; NULL: all */
  size_t column_count;
  const char* by;    /* top: "function", "module", ...; NULL: function */
  const char* event; /* top: a pattern; NULL: the one that samples where time goes */
  uint32_t ends;     /* not 0: to_ns is the last time whatever it is, 0 as well */
  const char* count; /* top: "samples", "weight"; NULL: what the event measures */
  uint32_t idle;     /* top: not 0, with the samples of processors' idle threads */
} stackpack_stream_options;

/* Makes *stream an Arrow stream of a table, which the caller releases; it stays good when the
 * reader is closed, and belongs to one thread at a time. `options` may be NULL. What goes wrong
 * later comes from the stream's get_next and get_last_error. */
stackpack_status stackpack_stream_table(const stackpack_reader* reader, uint32_t table,
                                        const stackpack_stream_options* options,
                                        struct ArrowArrayStream* stream);

/* Makes *stream an Arrow stream of the events of a capture with the fields that the capture itself
 * describes: the table provider_events of docs/arrow.md, which a .spk file does not have.
 * `providers`: a pattern of their names, '*' stands for any characters; NULL: all. Of the options
 * batch_rows, columns, from_ns, to_ns and `ends` count. As stackpack_stream_table else. */
stackpack_status stackpack_stream_provider_events(const char* capture, const char* providers,
                                                  const stackpack_stream_options* options,
                                                  struct ArrowArrayStream* stream);

/* For Python: the destructor of a PyCapsule named "arrow_array_stream" with a stream in memory that
 * malloc() gave: releases the stream, unless a consumer has taken it over, and frees the memory. No
 * Python code runs in it, so that an exception on its way and a signal pass unharmed. `capsule` is
 * a PyObject*. PyCapsule_GetPointer has to be made known before, once. */
void stackpack_set_capsule_pointer(void* (*get_pointer)(void* capsule, const char* name));
void stackpack_drop_stream_capsule(void* capsule);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STACKPACK_C_TABLES_H */
/* NOLINTEND(readability-identifier-naming) */
