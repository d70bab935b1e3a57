/* Lists the five callstacks of a .spk file that have the most samples.
 *
 *   read_stacks FILE.spk
 *
 * Build: cc -std=c11 read_stacks.c $(pkg-config --cflags --libs stackpack)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stackpack/c_api.h"

enum { kTop = 5, kMaxFrames = 8 };

struct counts {
  uint64_t* per_stack;
  uint32_t stacks;
};

static int count_samples(void* context, const stackpack_sample* samples, size_t count) {
  const struct counts* counts = context;
  for (size_t i = 0; i < count; ++i) {
    if (samples[i].stack < counts->stacks) {
      ++counts->per_stack[samples[i].stack];
    }
  }
  return 0;
}

static uint32_t take_highest(struct counts* counts) {
  uint32_t best = 0;
  for (uint32_t stack = 1; stack < counts->stacks; ++stack) {
    if (counts->per_stack[stack] > counts->per_stack[best]) {
      best = stack;
    }
  }
  return best;
}

static stackpack_status print_stack(const stackpack_reader* reader, uint32_t stack,
                                    uint64_t samples) {
  stackpack_frame frames[kMaxFrames];
  size_t depth = 0;
  const stackpack_status status =
      stackpack_get_callstack(reader, stack, frames, kMaxFrames, &depth);
  if (status != STACKPACK_OK) {
    return status;
  }
  printf("stack %" PRIu32 ": %" PRIu64 " samples, %zu frames\n", stack, samples, depth);
  for (size_t i = 0; i < depth && i < kMaxFrames; ++i) {
    printf("  %c 0x%" PRIx64 "\n", "?kuhgGU"[frames[i].mode], frames[i].address);
  }
  if (depth > kMaxFrames) {
    printf("  ...\n");
  }
  return STACKPACK_OK;
}

static stackpack_status print_top(const stackpack_reader* reader) {
  stackpack_summary summary = {.struct_size = sizeof summary};
  stackpack_status status = stackpack_get_summary(reader, &summary);
  if (status != STACKPACK_OK) {
    return status;
  }
  printf("%" PRIu64 " samples, %" PRIu64 " callstacks, %" PRIu64 " bytes\n", summary.samples,
         summary.stacks, summary.file_bytes);
  struct counts counts = {calloc(summary.stacks + 1, sizeof(uint64_t)), (uint32_t)summary.stacks};
  if (counts.per_stack == NULL) {
    return STACKPACK_OUT_OF_MEMORY;
  }
  status = stackpack_visit_samples(reader, 0, UINT64_MAX, NULL, NULL, sizeof(stackpack_sample),
                                   count_samples, &counts);
  for (int i = 0; status == STACKPACK_OK && i < kTop; ++i) {
    const uint32_t stack = take_highest(&counts);
    if (counts.per_stack[stack] == 0) {
      break;
    }
    status = print_stack(reader, stack, counts.per_stack[stack]);
    counts.per_stack[stack] = 0;
  }
  free(counts.per_stack);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.spk\n", argv[0]);
    return 1;
  }
  stackpack_reader* reader = NULL;
  stackpack_status status = stackpack_open(argv[1], 0, &reader);
  if (status == STACKPACK_OK) {
    status = print_top(reader);
  }
  stackpack_close(reader);
  if (status != STACKPACK_OK) {
    stackpack_error error = {.struct_size = sizeof error};
    stackpack_get_error(&error);
    fprintf(stderr, "%s: %s: %s\n", argv[1], stackpack_status_text(status), error.what);
    return 2;
  }
  return 0;
}
