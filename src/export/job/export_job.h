#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "export/output/export_output.h"
#include "io/output_rules.h"
#include "query/naming/stack_resolver.h"
#include "query/selection/sample_grouper.h"
#include "query/selection/sample_selection.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"

namespace stackpack::exporting {

/// What every encoder gets: the samples, the options, and the report it fills in.
struct ExportJob {
  query::SampleSelection& selection;
  const ExportOptions& options;
  std::string scratch_directory;  ///< where nameless temporary files may be made
  io::OutputRules rules;          ///< for encoders that open files themselves
  ExportReport report = {};
  const Reader* reader = nullptr;  ///< where its intervals are; may be null

  [[nodiscard]] const query::CaptureView& view() const { return selection.view(); }
  /// How locations are named by a format that has fields for addresses.
  [[nodiscard]] FrameStyle named_style() const {
    return options.frames == FrameStyle::kFunction ? FrameStyle::kFunction : FrameStyle::kModule;
  }
  /// Groups that SampleGrouper may hold.
  [[nodiscard]] std::size_t group_limit() const {
    return static_cast<std::size_t>(options.memory_limit / 2 /
                                    query::SampleGrouper::kBytesPerGroup) +
           2;
  }
};

// The encoders. Each sees the samples as often as it needs, writes one whole file (csv: several)
// and fills in the report, but for its output_bytes.
Status write_folded(ExportJob& job, ExportOutput& out);
Status write_pprof(ExportJob& job, ExportOutput& out);
Status write_speedscope(ExportJob& job, ExportOutput& out);
Status write_firefox(ExportJob& job, ExportOutput& out);
Status write_otlp(ExportJob& job, ExportOutput& out);
Status write_perfetto(ExportJob& job, ExportOutput& out);
Status write_html(ExportJob& job, ExportOutput& out);
Status write_cpuprofile(ExportJob& job, ExportOutput& out);
/// `directory` exists. The tables appear together at the end.
Status write_csv(ExportJob& job, const std::string& directory);

/// Counts distinct numbers.
class DistinctCounter {
 public:
  void add(std::uint32_t number) {
    if (number >= seen_.size()) {
      seen_.resize(std::size_t{number} + number / 2 + 64);
    }
    count_ += seen_[number] ? 0U : 1U;
    seen_[number] = true;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::vector<bool> seen_;
  std::uint64_t count_ = 0;
};

/// Hands out the groups of `grouper` with the node at which each callstack ends, block by block.
/// `root_of` gives the node below which a group's callstack goes; unset: the root of the tree, and
/// threads read the callstacks of a block while the one before it is visited. A block has up to
/// `block_groups`.
inline constexpr std::size_t kResolvedBlock = std::size_t{1} << 16;
Status for_each_resolved(
    query::SampleGrouper& grouper, query::StackResolver& resolver, std::size_t block_groups,
    const std::function<Result<std::uint32_t>(const query::GroupKey&)>& root_of,
    const std::function<Status(std::span<const query::Group>, std::span<const std::uint32_t>)>&
        visit);

}  // namespace stackpack::exporting
