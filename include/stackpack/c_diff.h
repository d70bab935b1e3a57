/* The C API's comparisons of files. stackpack/c_api.h says what holds for all of it. */
#ifndef STACKPACK_C_DIFF_H
#define STACKPACK_C_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "stackpack/c_reader.h"

/* Names as C libraries have them. */
/* NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STACKPACK_C_DIFF_H */
/* NOLINTEND(readability-identifier-naming) */
