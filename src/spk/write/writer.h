#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "capture/system_recorder.h"
#include "dag/frozen_dag.h"
#include "io/output_file.h"
#include "spk/write/branch_writer.h"
#include "spk/write/dag_node.h"
#include "spk/write/interval_writer.h"
#include "spk/write/name_writer.h"
#include "spk/write/value_writer.h"
#include "spk/write/writer_options.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::spk {

/// Phase 2: writes one .spk file through an io::OutputFile, section after section.
///
/// Order of calls: create, the callstacks, then add_samples any number of times (time order), then
/// finish. The callstacks come either as a whole with write_dag, or as a stream, twice:
///
///   begin_dag()
///   add_frames(...)     any number of times: every distinct frame once, ascending
///   survey_nodes(...)   any number of times: all nodes in canonical order
///   begin_pages()
///   add_nodes(...)      any number of times: the same nodes again
///   end_dag()
///
/// The survey finds which frames follow which; the pages need to know that from their first node
/// on. Nothing of the file depends on anything but these arguments and the version of libzstd.
/// Memory: proportional to the distinct frames and (parent frame, frame) pairs, up to table_bytes
/// in both passes, plus the blocks of samples under way (SampleBlockPool) and some 50 bytes per
/// page and per block of samples; without samples, proportional to the distinct counts, up to
/// count_bytes. Errors: those of the output file; kLimit; kUsage: calls out of order, nodes not in
/// canonical order or not the same twice, samples of unknown callstacks or events.
class Writer {
 public:
  static Result<std::unique_ptr<Writer>> create(io::OutputFile& out, const WriterOptions& options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  /// The callstacks. `dag` is not kept.
  Status write_dag(const dag::FrozenDag& dag);

  /// The callstacks as a stream.
  Status begin_dag();
  Status add_frames(std::span<const Frame> frames);
  Status survey_nodes(std::span<const DagNode> nodes);
  Status begin_pages();
  Status add_nodes(std::span<const DagNode> nodes);
  Status end_dag();

  /// Samples in time order; StoredSample::stack is an id of the DAG written before, or kNoStack.
  Status add_samples(std::span<const StoredSample> samples);

  /// The same for counts of samples, of a file without samples.
  Status add_counts(std::span<const StackCount> counts);

  /// Waits until all samples are written; finish() does it, too.
  Status end_samples();

  /// How often add_samples and end_samples waited for a thread that encodes, and such a thread for
  /// samples. After end_samples().
  struct Stalls {
    std::uint64_t caller = 0;
    std::uint64_t encoders = 0;
  };
  [[nodiscard]] Stalls stalls() const;

  /// Adds the names of a file, in their order.
  using AddNames = std::function<Status(NameWriter&)>;
  /// Adds the branches of a file, in their order.
  using AddBranches = std::function<Status(BranchWriter&)>;

  /// Adds the intervals of a file, in their order, and ends them.
  using AddIntervals = std::function<Status(IntervalWriter&)>;

  /// Adds the values of events, in their order, and ends them.
  using AddValues = std::function<Status(ValueWriter&)>;

  /// Adds the fields of samples, in the order of the samples, and ends them.
  using AddFields = std::function<Status(FieldWriter&)>;

  /// Adds the branch stacks of a file; before the fields of samples, which name them.
  using AddBranchStacks = std::function<Status(BranchStackWriter&)>;

  /// Tables, branches, intervals, values, branch stacks, fields, names, summary, directory and
  /// trailer. Of `statistics` the writer fills in what only it knows (dag.*, callstacks.stored,
  /// sample_stream_bytes); the caller gives the rest, which `add_names` may change. The completed
  /// statistics are returned. Does not commit the output.
  Result<Statistics> finish(const capture::SystemTables& tables, std::span<const Event> events,
                            const Statistics& statistics, std::string_view fingerprint,
                            const AddBranches& add_branches, const AddNames& add_names = {},
                            const AddIntervals& add_intervals = {},
                            const AddValues& add_values = {}, const AddFields& add_fields = {},
                            const AddBranchStacks& add_branch_stacks = {});
  Result<Statistics> finish(const capture::SystemTables& tables, std::span<const Event> events,
                            const Statistics& statistics, std::string_view fingerprint,
                            const AddNames& add_names = {}) {
    return finish(tables, events, statistics, fingerprint, AddBranches{}, add_names);
  }

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackpack::spk
