#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/convert/capture_spool.h"
#include "app/merge/branch_union.h"
#include "app/merge/frame_rebaser.h"
#include "app/merge/image_table.h"
#include "app/merge/input_processes.h"
#include "app/merge/merge_input.h"
#include "app/merge/name_union.h"
#include "app/merge/rebased_sink.h"
#include "app/merge/source_set.h"
#include "app/merge/table_union.h"
#include "io/output_file.h"
#include "stackpack/convert.h"
#include "stackpack/merge.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// One attempt to merge the inputs that are good as far as is known.
///
/// Use: read_tables(), read_samples(), write(), each once.
/// Memory: the tables and names of kInputsAtOnce inputs, those of the output, and what CaptureSpool
/// and SampleRebaser take. Threads: one reads the tables of the next inputs, and one
/// takes what comes out (RebasedSink), unless MergeOptions::encoders is 0.
class MergeAttempt {
 public:
  /// `inputs`: none where one was left out. All must outlive this.
  MergeAttempt(const std::vector<std::optional<MergeInput>>& inputs, std::string scratch,
               const MergeOptions& options, ConvertProgress& progress);

  /// First pass: everything but callstacks and samples. Errors: Error::part is the input, or
  /// kOutputPart.
  Status read_tables();
  /// Second pass: callstacks and samples. Errors: as above.
  Status read_samples();
  /// Errors: those of the output.
  Result<Statistics> write(io::OutputFile& out);

  [[nodiscard]] const std::vector<MergedSource>& sources() const { return sources_.sources(); }
  /// By input: how many of its sources were in inputs before it.
  [[nodiscard]] const std::vector<std::uint64_t>& repeated() const { return repeated_; }

 private:
  /// What is known of an input before its callstacks are read.
  struct OpenInput {
    std::unique_ptr<Reader> reader;
    std::unique_ptr<const Symbols> symbols;
    std::vector<Event> events;
    std::vector<MetadataEntry> metadata;
    std::vector<InputImage> images;
  };

  static constexpr std::size_t kInputsAtOnce = 3;

  [[nodiscard]] unsigned encoders() const;
  static Result<OpenInput> load(const MergeInput& input);
  /// Opens the inputs that `wanted` takes and visits them in their order.
  Status for_each_input(const std::function<bool(std::size_t i)>& wanted,
                        const std::function<Status(std::size_t i, OpenInput& opened)>& visit);
  [[nodiscard]] bool is_read_from(std::size_t i) const;
  Status add_tables(std::size_t i, OpenInput& opened);
  Status add_samples(std::size_t i, OpenInput& opened);
  /// `rank`: of the source that the input is; none: it is a merged file.
  Status add_rebased(const OpenInput& opened, const SourceClock& clock, InputProcesses& processes,
                     std::optional<std::uint32_t> rank);
  Status add_branches(std::size_t i, const OpenInput& opened);
  Result<std::vector<std::uint32_t>> reasons_of(const Reader& reader);
  Result<std::vector<std::optional<std::uint32_t>>> control_groups_of(const Reader& reader);
  Result<std::vector<std::uint64_t>> label_sets_of(const Reader& reader);
  void add_losses(std::uint32_t rank, const FrameRebaser::Unplaced& unplaced,
                  std::uint64_t unknown_values, const Reader& reader);
  Status add_mappings(const OpenInput& opened, const std::vector<bool>& used,
                      const SourceClock& clock, InputProcesses& processes);

  const std::vector<std::optional<MergeInput>>& inputs_;
  std::string scratch_;
  const MergeOptions& options_;
  ConvertProgress& progress_;
  bool keeps_samples_;
  bool has_branch_stacks_ = false;
  SourceSet sources_;
  ImageTable images_;
  NameUnion names_;
  TableUnion tables_;
  PidNumbers pids_;
  std::vector<std::uint64_t> repeated_;
  BranchUnion branches_;
  /// Reasons of waits of all inputs; numbered in their order, from 1 on.
  std::set<std::string, std::less<>> wait_reasons_;
  std::unique_ptr<CaptureSpool> spool_;
  std::unique_ptr<RebasedSink> sink_;  // while samples are read
};

}  // namespace stackpack::app
