#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/convert/packed_capture.h"
#include "stackpack/convert.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
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

/// One input of a merge: a .spk file, or a capture that is packed into a temporary one, which goes
/// with this.
class MergeInput {
 public:
  /// Errors: those of convert() and of Reader::open.
  static Result<MergeInput> open(const std::string& path, const ConvertOptions& options,
                                 ConvertProgress* progress);

  /// The file, opened again. Errors: those of Reader::open.
  [[nodiscard]] Result<std::unique_ptr<Reader>> reader() const;

  /// Whether it is a merged file.
  [[nodiscard]] bool merged() const { return merged_; }
  /// What it was made of; of a file that is no merged one, the file itself, without pids.
  [[nodiscard]] const std::vector<MergedSource>& sources() const { return sources_; }

 private:
  PackedFile packed_;
  bool merged_ = false;
  std::vector<MergedSource> sources_;
};

}  // namespace stackpack::app
