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
 * A program includes this header, or of its parts the ones that it needs.
 */
#ifndef STACKPACK_C_API_H
#define STACKPACK_C_API_H

#include "stackpack/c_convert.h"
#include "stackpack/c_diff.h"
#include "stackpack/c_reader.h"
#include "stackpack/c_tables.h */
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

/* ---- comparisons ---- */

typedef struct stackpack_diff stackpack_diff;

typedef enum stackpack_grain {
  STACKPACK_BY_FUNCTION = 0,
  STACKPACK_BY_MODULE = 1,
  STACKPACK_BY_LINE = 2,
  STACKPACK_BY_CALLSTACK = 3
} stackpack_grain;

typedef enum stackpack_unit {
  STACKPACK_PER_MEASURE = 0, /* shares of what the event measures: weights where it has some */
  STACKPACK_PER_WEIGHT = 1,  /* shares of the weights of samples */
  STACKPACK_PER_TIME = 2,    /* samples per second */
  STACKPACK_PER_SAMPLES = 3, /* shares of the samples */
  STACKPACK_PER_RUN = 4      /* what a run costs: processor time, cycles, ... */
} stackpack_unit;

/* What is compared, and how. Zeros and NULLs are what the program does without options. */
typedef struct stackpack_diff_options {
  size_t struct_size;
  uint32_t grain;       /* a stackpack_grain */
  uint32_t unit;        /* a stackpack_unit */
  uint32_t all_events;  /* not 0: each event, for itself */
  const char* event;    /* a pattern; NULL: the one that samples where time goes */
  const char* whole;    /* functions as `stackpack callers` takes them; NULL: everything */
  double mistakes;      /* 0: 0.01 */
  double run_variation; /* negative: none; 0: 0.1 */
  /* not 0: what one run a side shows is taken for a change */
  uint32_t accept_single_run;
  /* With STACKPACK_PER_RUN: what cost is for each of, "request"; NULL: "run". How much of that each
   * file has done, those of `before` first, each more than 0; NULL: 1 each. */
  const char* work;
  const double* work_of_files;
  size_t work_count;   /* as many as there are files */
  const char* runs_by; /* with STACKPACK_PER_RUN: an event that begins an iteration; NULL: none */
  /* Images or functions that are called otherwise on the new side: old name, new name, ... */
  const char* const* renames;
  size_t rename_count; /* pairs of names */
} stackpack_diff_options;

/* Compares the samples of files, which are runs of the same thing on each side. `options` may be
 * NULL. The readers are not needed afterwards; the comparison lives until stackpack_free_diff,
 * which takes NULL, too, and belongs to one thread at a time. */
stackpack_status stackpack_compare(const stackpack_reader* const* before, size_t before_count,
                                   const stackpack_reader* const* after, size_t after_count,
                                   const stackpack_diff_options* options, stackpack_diff** diff);
void stackpack_free_diff(stackpack_diff* diff);

/* A run whose samples were summed up before, as in tables of many captures: all of them count 1, or
 * all for their weights. It does not grow. */
typedef struct stackpack_counted_run {
  uint64_t after;   /* 0: of the side before; else of the one after */
  uint64_t value;   /* of all samples, with those that have no callstack */
  uint64_t samples; /* how many; a run of none is left out */
  double squares;   /* sum of the squares of what each sample counts for */
} stackpack_counted_run;

/* A function as reports call it. Texts may be NULL, which is the same as "". It does not grow. */
typedef struct stackpack_counted_function {
  const char* name;
  const char* module;   /* file name of the image */
  const char* build_id; /* of the image */
} stackpack_counted_function;

/* What a run has in a function; at most one for each of both. It does not grow. */
typedef struct stackpack_function_count {
  uint64_t run;      /* number in the list of runs */
  uint64_t function; /* number in the list of functions */
  uint64_t self;
  uint64_t total; /* each sample once that runs through it */
} stackpack_function_count;

/* What is compared, for stackpack_compare_counts. */
typedef struct stackpack_counted {
  size_t struct_size;
  const char* event;   /* its name; NULL: "" */
  const char* measure; /* what weights are counted in: "ns", ...; NULL: values are samples */
  const stackpack_counted_run* runs;
  size_t run_count;
  const stackpack_counted_function* functions;
  size_t function_count;
  const stackpack_function_count* counts;
  size_t count_count;
} stackpack_counted;

/* As stackpack_compare by functions, of runs that were summed up: one event, whose figures are the
 * same where there are several runs a side. Of the options `mistakes`, `run_variation` and
 * `accept_single_run` count. STACKPACK_USAGE: a side has no sample, or counts do not add up. */
stackpack_status stackpack_compare_counts(const stackpack_counted* counted,
                                          const stackpack_diff_options* options,
                                          stackpack_diff** diff);

size_t stackpack_diff_event_count(const stackpack_diff* diff);

typedef enum stackpack_scatter {
  STACKPACK_SCATTER_RUNS = 0,   /* how much counts scatter is measured between runs */
  STACKPACK_SCATTER_BLOCKS = 1, /* within one run a side */
  STACKPACK_SCATTER_ASSUMED = 2
} stackpack_scatter;

typedef enum stackpack_verdict {
  STACKPACK_NOT_SEEN = 0, /* no difference that chance could not make */
  STACKPACK_MORE = 1,
  STACKPACK_LESS = 2,
  STACKPACK_APPEARED = 3,
  STACKPACK_DISAPPEARED = 4,
  STACKPACK_TOO_FEW = 5, /* samples for any verdict */
  STACKPACK_UNSURE = 6,  /* one run a side, which does not show how much runs differ */
  STACKPACK_DOUBTED = 7  /* a difference of runs that cannot be compared */
} stackpack_verdict;

/* Shares are 0 to 1; with STACKPACK_PER_TIME samples per second; with STACKPACK_PER_RUN the cost of
 * a run. */
typedef struct stackpack_diff_figure {
  double old_value;
  double new_value;
  double old_share;
  double new_share;
  double low; /* bounds of new_share - old_share */
  double high;
  double ratio_low; /* bounds of new_share / old_share; high may be infinite */
  double ratio_high;
  double least_visible; /* growth that would have been seen four times in five */
  double p;
  double overdispersion;
  uint64_t verdict; /* a stackpack_verdict */
} stackpack_diff_figure;

typedef struct stackpack_event_diff {
  size_t struct_size;
  stackpack_text event;
  uint64_t rows;
  uint64_t old_samples;
  uint64_t new_samples;
  uint64_t tests;
  double level;       /* 1 - level is the confidence of the intervals */
  uint32_t scatter;   /* a stackpack_scatter */
  uint32_t doubts;    /* STACKPACK_PER_RUN: number of reasons why costs cannot be compared */
  uint32_t has_whole; /* STACKPACK_PER_RUN: not 0, and `whole` is the cost of everything */
  stackpack_diff_figure whole;
  stackpack_text measure; /* what is counted: "ns", "cycles", "samples", ... */
  stackpack_text work;    /* STACKPACK_PER_RUN: what cost is for each of */
} stackpack_event_diff;

/* Texts live as long as the comparison. STACKPACK_USAGE: there is no such event or row. */
stackpack_status stackpack_get_event_diff(const stackpack_diff* diff, size_t event,
                                          stackpack_event_diff* result);

typedef struct stackpack_diff_row {
  size_t struct_size;
  stackpack_text name;
  stackpack_text module;
  stackpack_text place; /* file:line */
  stackpack_diff_figure self;
  stackpack_diff_figure total;
} stackpack_diff_row;

/* The surest differences come first. */
stackpack_status stackpack_get_diff_row(const stackpack_diff* diff, size_t event, size_t row,
                                        stackpack_diff_row* result);

typedef enum stackpack_outcome {
  STACKPACK_PASSED = 0,
  STACKPACK_FAILED = 1,
  /* nothing failed for sure: too few samples could have shown it, or there is one run a side */
  STACKPACK_UNDECIDED = 2
} stackpack_outcome;

/* Judges a condition such as "self share +0.5pp from 1%", as `diff --fail-if` does. `allowed`:
 * lines as of a file for --allow, or NULL. *outcome becomes a stackpack_outcome, *findings the
 * number of figures that fail and are not allowed. */
stackpack_status stackpack_check_gate(const stackpack_diff* diff, const char* condition,
                                      const char* allowed, uint32_t* outcome, size_t* findings);

/* ---- progress ---- */

/* Shared with a thread that watches a conversion or a merge while another one runs it. */
typedef struct stackpack_progress stackpack_progress;

/* NULL when memory runs out. Lives until stackpack_free_progress, which takes NULL, too, and comes
 * after the work that was given it. */
stackpack_progress* stackpack_new_progress(void);
void stackpack_free_progress(stackpack_progress* progress);

/* The work that was given it ends soon with STACKPACK_CANCELLED; the output does not appear. */
void stackpack_cancel(stackpack_progress* progress);

typedef struct stackpack_progress_state {
  size_t struct_size;
  uint64_t bytes_total; /* of the input; 0: not known */
  uint64_t bytes_done;
  uint64_t samples;
  uint64_t samples_written; /* of them, in stage 2 */
  uint32_t stage;           /* 0 reading, 1 callstacks, 2 samples, 3 finishing */
} stackpack_progress_state;

stackpack_status stackpack_get_progress(const stackpack_progress* progress,
                                        stackpack_progress_state* state);

/* ---- conversions ---- */

/* For the field `encoders` of options: no threads that encode samples. */
#define STACKPACK_NO_ENCODERS UINT32_MAX

/* How a capture is converted. Zeros and NULLs are what the program does without options.
 * docs/options.md has every option of the program, C++, C and Python side by side. */
typedef struct stackpack_convert_options {
  size_t struct_size;
  uint32_t level;        /* of zstd, 1 to 22; 0: 9 */
  uint32_t drop_samples; /* not 0: counts of samples only */
  uint32_t redact;       /* not 0: leave out command lines, host name, user names in paths */
  uint32_t force;        /* not 0: replace an existing file that is neither a .spk file nor empty */
  uint64_t memory_limit; /* bytes; 0: 512 MiB, or a quarter of the memory if that is less */
  const char* format;    /* "perf", "etl", ...; NULL: by the first bytes */
  const char* member;    /* of a zip archive: which of its captures; may be NULL */
  stackpack_progress* progress; /* may be NULL */
  uint64_t time_resolution_ns;  /* times of samples are rounded down to it; 0: they are kept */
  uint32_t unwind;   /* not 0: make callstacks of stack dumps, by the binaries that were recorded */
  uint32_t encoders; /* threads that encode samples, besides the one that converts, at most 64;
                        0: two, or as many as there are processors if that is less */
  /* Where binaries are looked for, by build id, besides the paths that were recorded: folders, and
   * archives that `stackpack collect` made. May be NULL when there are none. */
  const char* const* binary_folders;
  size_t binary_folder_count;
  const char* sysroot;          /* the folder below which the recorded paths are; NULL: the root */
  uint32_t drop_waits;          /* not 0: no intervals in which threads ran and waited */
  uint32_t drop_switch_samples; /* not 0: no samples of switches and wakings, where intervals are
                                   made of them */
  uint32_t drop_event_values;   /* not 0: nothing of what events say besides their callstacks */
} stackpack_convert_options;

typedef struct stackpack_convert_report {
  size_t struct_size;
  uint64_t input_bytes;
  uint64_t output_bytes;
  uint64_t samples;
  uint64_t callstacks; /* distinct recorded ones */
  uint32_t lossy;      /* 1: the recorder lost data, or something is damaged: table losses */
} stackpack_convert_report;

/* Converts the capture `input` into the file `output`, which appears whole or not at all. `options`
 * and `report` may be NULL. */
stackpack_status stackpack_convert(const char* input, const char* output,
                                   const stackpack_convert_options* options,
                                   stackpack_convert_report* report);

/* ---- merges ---- */

/* How files are merged. Zeros and NULLs are what the program does without options. */
typedef struct stackpack_merge_options {
  size_t struct_size;
  uint32_t level;        /* of zstd, 1 to 22; 0: 9 */
  uint32_t drop_samples; /* not 0: counts of samples only */
  uint32_t keep_going;   /* not 0: leave out inputs that are bad */
  uint32_t force;        /* not 0: replace an existing file that is neither a .spk file nor empty */
  uint64_t memory_limit; /* bytes; 0: 256 MiB */
  const char* format;    /* of captures among the inputs; NULL: by their first bytes */
  stackpack_progress* progress; /* may be NULL */
  uint64_t time_resolution_ns;  /* times of samples are rounded down to it; 0: they are kept */
  uint32_t encoders; /* threads that encode samples, besides those that merge, at most 64;
                        0: two, or as many as there are processors if that is less */
} stackpack_merge_options;

typedef struct stackpack_merge_report {
  size_t struct_size;
  uint64_t sources;           /* distinct captures that were merged */
  uint64_t callstacks_before; /* distinct ones of each source, added up */
  uint64_t callstacks;        /* distinct ones of the output */
  uint64_t samples;
  uint64_t output_bytes;
  uint64_t bad_inputs; /* left out */
} stackpack_merge_report;

/* Merges .spk files and captures into the file `output`, which appears whole or not at all and does
 * not depend on the order of the inputs. `options` and `report` may be NULL. When it fails for one
 * input, *failed_input becomes the number of that; else, and when all is well, `count`.
 * failed_input may be NULL. */
stackpack_status stackpack_merge(const char* const* inputs, size_t count, const char* output,
                                 const stackpack_merge_options* options,
                                 stackpack_merge_report* report, size_t* failed_input);

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
  STACKPACK_TABLE_COUNTS = 11,      /* samples by callstack, event, process and origin */
  STACKPACK_TABLE_TOP = 12,         /* what the command `top` shows */
  STACKPACK_TABLE_BRANCHES = 13,    /* of captures with branch stacks, summed up */
  STACKPACK_TABLE_RANGES = 14,      /* how often code between taken branches ran through */
  STACKPACK_TABLE_INTERVALS = 15,   /* when threads ran and waited */
  STACKPACK_TABLE_EVENT_VALUES = 16 /* what events say, a row for each field */
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

/* For Python: the destructor of a PyCapsule named "arrow_array_stream" with a stream in memory that
 * malloc() gave: releases the stream, unless a consumer has taken it over, and frees the memory. No
 * Python code runs in it, so that an exception on its way and a signal pass unharmed. `capsule` is
 * a PyObject*. PyCapsule_GetPointer has to be made known before, once. */
void stackpack_set_capsule_pointer(void* (*get_pointer)(void* capsule, const char* name));
void stackpack_drop_stream_capsule(void* capsule);

#ifdef __cplusplus
} /* extern "C"

#endif /* STACKPACK_C_API_H */
