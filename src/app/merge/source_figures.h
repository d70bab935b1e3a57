#pragma once

#include "stackpack/model.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// What a source counts, from the statistics of its file.
inline void take_figures(MergedSource& source, const Statistics& statistics) {
  source.bytes = statistics.source_bytes;
  source.samples = statistics.samples.total;
  source.records = statistics.samples.records;
  source.empty_chains = statistics.samples.empty_chains;
  source.stack_dump_only = statistics.samples.stack_dump_only;
  source.unwound = statistics.samples.unwound;
  source.callstacks = statistics.callstacks.unique;
}

}  // namespace stackpack::app
