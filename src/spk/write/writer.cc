#include "spk/write/writer.h"

#include <array>
#include <utility>
#include <vector>

#include "spk/format/source_rows.h"
#include "spk/format/summary.h"
#include "spk/format/table_codec.h"
#include "spk/format/table_rules.h"
#include "spk/write/dag_writer.h"
#include "spk/write/sample_writer.h"
#include "spk/write/section_writer.h"

namespace stackpack::spk {

struct Writer::Impl {
  Impl(io::OutputFile& out, const WriterOptions& options)
      : sections(out, options.level),
        dag(sections, kCallstackSections, options.scratch_directory, options.table_bytes,
            options.threads > 0),
        samples(sections, options),
        scratch_directory(options.scratch_directory),
        table_bytes(options.table_bytes),
        threaded(options.threads > 0) {}

  template <typename Row>
  Status write_table(SectionKind kind, std::span<const Row> rows) {
    return spk::write_table(sections, kind, rows);
  }
  Status write_tables(const capture::SystemTables& tables, std::span<const Event> events);
  Status write_branches(const AddBranches& add_branches);
  Status write_fields(const AddBranchStacks& add_branch_stacks, const AddFields& add_fields);
  Status write_names(const AddNames& add_names);
  Status write_summary(const Statistics& statistics, std::string_view fingerprint);
  /// Stored bytes of these sections, their share of the directory included.
  [[nodiscard]] std::uint64_t stored_bytes(std::span<const SectionKind> kinds) const;

  SectionWriter sections;
  DagWriter dag;
  SampleWriter samples;
  std::string scratch_directory;
  std::uint64_t table_bytes;
  bool threaded;
  bool finished = false;
};

Status Writer::Impl::write_tables(const capture::SystemTables& tables,
                                  std::span<const Event> events) {
  const std::vector<SourceRow> sources = source_rows(tables.sources);
  for (const Status& rules :
       {check_processes(tables.processes), check_threads(tables.threads),
        check_modules(tables.modules), check_metadata(tables.metadata), check_sources(sources)}) {
    if (!rules) {
      return refused(rules);
    }
  }
  const std::array written{
      write_table(SectionKind::kEvents, events),
      write_table(SectionKind::kProcesses, std::span(tables.processes)),
      write_table(SectionKind::kThreads, std::span(tables.threads)),
      write_table(SectionKind::kModules, std::span(tables.modules)),
      write_table(SectionKind::kMetadata, std::span(tables.metadata)),
  };
  for (const Status& status : written) {
    if (!status) {
      return status;
    }
  }
  if (const std::vector<ModuleFile> files = files_of(tables.modules); !files.empty()) {
    if (const Status status =
            write_table(SectionKind::kModuleFiles, std::span<const ModuleFile>(files));
        !status) {
      return status;
    }
  }
  return sources.empty() ? Status()
                         : write_table(SectionKind::kSources, std::span<const SourceRow>(sources));
}

Status Writer::Impl::write_branches(const AddBranches& add_branches) {
  if (!add_branches) {
    return {};
  }
  BranchWriter branches(sections);
  const Status added = add_branches(branches);
  return added ? branches.end() : added;
}

// Branch stacks and the fields of samples, which name them.
Status Writer::Impl::write_fields(const AddBranchStacks& add_branch_stacks,
                                  const AddFields& add_fields) {
  BranchStackCounts counts;
  if (add_branch_stacks) {
    BranchStackWriter branch_stacks(sections, scratch_directory, table_bytes);
    if (const Status added = add_branch_stacks(branch_stacks); !added) {
      return added;
    }
    counts = branch_stacks.counts();
  }
  if (!add_fields) {
    return {};
  }
  FieldWriter fields(sections, counts);
  const Status added = add_fields(fields);
  return added ? fields.check_references() : added;
}

Status Writer::Impl::write_names(const AddNames& add_names) {
  constexpr std::uint64_t kTextNumberBytes = std::uint64_t{4} << 20;
  if (!add_names) {
    return {};
  }
  NameWriter names(sections, scratch_directory, kTextNumberBytes);
  const Status added = add_names(names);
  return added ? names.end() : added;
}

Status Writer::Impl::write_summary(const Statistics& statistics, std::string_view fingerprint) {
  if (const Status rules = check_summary(statistics); !rules) {
    return refused(rules);
  }
  BlockContent content;
  encode_summary(statistics, fingerprint, content);
  if (content.size() > kMaxSummaryBytes) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: too many events or losses"};
  }
  sections.begin_section(SectionKind::kSummary);
  if (const auto record = sections.add_block(content); !record) {
    return record.error();
  }
  sections.end_section(1);
  return {};
}

std::uint64_t Writer::Impl::stored_bytes(std::span<const SectionKind> kinds) const {
  std::uint64_t total = 0;
  for (const SectionRecord& section : sections.sections()) {
    for (const SectionKind kind : kinds) {
      if (section.kind == static_cast<std::uint32_t>(kind)) {
        total +=
            section.stored_bytes + kSectionRecordBytes + section.blocks.size() * kBlockRecordBytes;
      }
    }
  }
  return total;
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::create(io::OutputFile& out, const WriterOptions& options) {
  auto impl = std::make_unique<Impl>(out, options);
  if (const Status begun = impl->sections.begin_file(); !begun) {
    return begun.error();
  }
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

Status Writer::write_dag(const dag::FrozenDag& dag) {
  if (const Status begun = begin_dag(); !begun) {
    return begun;
  }
  if (const Status added = add_frames(dag.dictionary); !added) {
    return added;
  }
  constexpr std::size_t kBatch = 4'096;
  std::vector<DagNode> nodes;
  for (const bool pages : {false, true}) {
    if (pages) {
      if (const Status begun = begin_pages(); !begun) {
        return begun;
      }
    }
    for (std::size_t begin = 0; begin < dag.node_count(); begin += kBatch) {
      nodes.clear();
      for (std::size_t i = begin; i < dag.node_count() && i < begin + kBatch; ++i) {
        nodes.push_back({dag.frame[i], dag.depth[i], dag.ends(i)});
      }
      if (const Status added = pages ? add_nodes(nodes) : survey_nodes(nodes); !added) {
        return added;
      }
    }
  }
  return end_dag();
}

Status Writer::begin_dag() {
  return impl_->dag.begin();
}

Status Writer::add_frames(std::span<const Frame> frames) {
  return impl_->dag.add_frames(frames);
}

Status Writer::survey_nodes(std::span<const DagNode> nodes) {
  return impl_->dag.survey(nodes);
}

Status Writer::begin_pages() {
  return impl_->dag.begin_pages();
}

Status Writer::add_nodes(std::span<const DagNode> nodes) {
  return impl_->dag.add(nodes);
}

Status Writer::end_dag() {
  const Status ended = impl_->dag.end();
  if (ended) {
    impl_->samples.begin(impl_->dag.stack_count());
  }
  return ended;
}

Status Writer::add_samples(std::span<const StoredSample> samples) {
  if (!impl_->dag.done() || impl_->finished) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: calls out of order"};
  }
  return impl_->samples.add(samples);
}

Status Writer::add_counts(std::span<const StackCount> counts) {
  if (!impl_->dag.done() || impl_->finished) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: calls out of order"};
  }
  return impl_->samples.add_counts(counts);
}

Status Writer::end_samples() {
  if (!impl_->dag.done() || impl_->finished) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: calls out of order"};
  }
  return impl_->samples.flush();
}

Writer::Stalls Writer::stalls() const {
  return {impl_->samples.waits_for_encoders(), impl_->samples.waits_of_encoders()};
}

namespace {

// Lets `add` write a section, if there is one to write.
template <typename SectionWriter, typename Add, typename... Places>
Status add_with(const Add& add, Places&&... places) {
  if (!add) {
    return {};
  }
  SectionWriter writer(std::forward<Places>(places)...);
  return add(writer);
}

}  // namespace

Result<Statistics> Writer::finish(const capture::SystemTables& tables,
                                  std::span<const Event> events, const Statistics& statistics,
                                  std::string_view fingerprint, const AddBranches& add_branches,
                                  const AddNames& add_names, const AddIntervals& add_intervals,
                                  const AddValues& add_values, const AddFields& add_fields,
                                  const AddBranchStacks& add_branch_stacks) {
  if (!impl_->dag.done() || impl_->finished) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: calls out of order"};
  }
  impl_->finished = true;
  if (const Status ended = impl_->samples.end(events.size()); !ended) {
    return ended.error();
  }
  if (const Status written = impl_->write_tables(tables, events); !written) {
    return written.error();
  }
  Status added = impl_->write_branches(add_branches);
  const std::uint64_t stacks = impl_->dag.stack_count();
  added = added ? add_with<IntervalWriter>(add_intervals, impl_->sections, stacks, impl_->threaded)
                : added;
  added = added ? add_with<ValueWriter>(add_values, impl_->sections, stacks) : added;
  added = added ? impl_->write_fields(add_branch_stacks, add_fields) : added;
  if (!added) {
    return added.error();
  }
  if (const Status named = impl_->write_names(add_names); !named) {
    return named.error();
  }
  Statistics complete = statistics;
  impl_->dag.fill(complete);
  constexpr std::array kDagSections{SectionKind::kFrames, SectionKind::kEdges, SectionKind::kPages,
                                    SectionKind::kPageIndex};
  constexpr std::array kSampleSections{SectionKind::kSamples, SectionKind::kSampleIndex,
                                       SectionKind::kStackCounts};
  complete.dag.stored_bytes = impl_->stored_bytes(kDagSections);
  complete.sample_stream_bytes = impl_->stored_bytes(kSampleSections);
  if (const Status summary = impl_->write_summary(complete, fingerprint); !summary) {
    return summary.error();
  }
  if (const Status done = impl_->sections.finish_file(); !done) {
    return done.error();
  }
  return complete;
}

}  // namespace stackpack::spk
