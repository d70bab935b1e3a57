/* The C API's conversions and merges, and their progress. stackpack/c_api.h says what holds for all
 * of it. */
#ifndef STACKPACK_C_CONVERT_H
#define STACKPACK_C_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "stackpack/c_reader.h"

/* Names as C libraries have them. */
/* NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- progress ---- */

/* Shared with a thread that watches a conversion or a merge while another one runs it. */
typedef struct stackpack_progress stackpack_progress;

/* NULL when memory runs out. Lives until stackpack_free_progress, which takes NULL, too, and comes
 * after the work that was given it. */
stackpack_progress* stackpack_new_progress(void);
void stackpack_free_progress(stackpack_progress* progress);

/* The work that was given it ends soon with STACKPACK_CANCELLED; the output does not appear. */
void stackpack_cancel(stackpack_progress* progress);

/* While it is held (not 0), the output of the work does not take its place: stage 3 lasts until it
 * is let go (0) or cancelled. So whoever has seen stage 3 can still keep the old output. */
void stackpack_hold(stackpack_progress* progress, uint32_t held);

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
  uint32_t drop_sample_fields;  /* not 0: nothing of accesses to memory and control groups */
  uint32_t keep_branches;       /* not 0: whole branch stacks of samples, unless those or their
                                   fields are dropped */
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STACKPACK_C_CONVERT_H */
/* NOLINTEND(readability-identifier-naming) */
