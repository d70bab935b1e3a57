// Whole .spk files from plain data, for the tests of writer and reader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture/system_recorder.h"
#include "io/output_file.h"
#include "spk/write/writer.h"
#include "stackpack/model.h"
#include "stackpack/stats.h"
#include "support/frozen_dag_maker.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// What goes into a file.
struct SpkContent {
  StackSet stacks;
  std::vector<StoredSample> samples;
  std::vector<Event> events{{"cpu-clock", true}};
  capture::SystemTables tables;
  std::vector<LossCounter> losses;
  std::string fingerprint = "test";
  spk::Writer::AddNames add_names = {};
  spk::Writer::AddBranches add_branches = {};
  spk::Writer::AddFields add_fields = {};
  spk::Writer::AddBranchStacks add_branch_stacks = {};
};

/// The statistics that a conversion would hand to the writer.
inline Statistics statistics_of(const SpkContent& content) {
  const std::vector<RootFirstStack> stacks(content.stacks.begin(), content.stacks.end());
  std::vector<bool> recorded(stacks.size());
  Statistics statistics;
  statistics.source_kind = "test";
  statistics.source_bytes = 1;
  for (const Event& event : content.events) {
    statistics.events.push_back({event.name, 0});
  }
  for (const StoredSample& sample : content.samples) {
    ++statistics.samples.total;
    statistics.samples.records += (sample.flags & kSampleSameRecord) != 0 ? 0U : 1U;
    ++statistics.events.at(sample.event).samples;
    statistics.samples.none += sample.origin == StackOrigin::kNone ? 1U : 0U;
    statistics.samples.ip_only += sample.origin == StackOrigin::kIpOnly ? 1U : 0U;
    statistics.samples.stack_dump_only +=
        !has_chain(sample.origin) && (sample.flags & kSampleStackDump) != 0 ? 1U : 0U;
    statistics.samples.empty_chains += (sample.flags & kSampleEmptyChain) != 0 ? 1U : 0U;
    if (has_chain(sample.origin)) {
      statistics.samples.unwound += sample.origin == StackOrigin::kUnwound ? 1U : 0U;
      ++statistics.samples.recorded;
      statistics.callstacks.raw_frames += stacks.at(sample.stack).size();
      recorded[sample.stack] = true;
    }
  }
  std::vector<Frame> leaves;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (recorded[i]) {
      ++statistics.callstacks.unique;
      statistics.callstacks.unique_frames += stacks[i].size();
      statistics.callstacks.max_depth =
          std::max<std::uint64_t>(statistics.callstacks.max_depth, stacks[i].size());
      leaves.push_back(stacks[i].back());
    }
  }
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  statistics.callstacks.unique_leaf_frames = leaves.size();
  statistics.processes = content.tables.processes.size();
  statistics.threads = content.tables.threads.size();
  statistics.modules = content.tables.modules.size();
  statistics.losses = content.losses;
  return statistics;
}

/// Writes a file; the completed statistics.
inline Result<Statistics> write_spk(const SpkContent& content, const spk::WriterOptions& options,
                                    const std::string& path) {
  auto out = io::OutputFile::create(path);
  if (!out) {
    return out.error();
  }
  auto writer = spk::Writer::create(*out.value(), options);
  if (!writer) {
    return writer.error();
  }
  if (const Status dag = writer.value()->write_dag(frozen_dag_of(content.stacks)); !dag) {
    return dag.error();
  }
  if (const Status added = writer.value()->add_samples(content.samples); !added) {
    return added.error();
  }
  Result<Statistics> statistics =
      writer.value()->finish(content.tables, content.events, statistics_of(content),
                             content.fingerprint, content.add_branches, content.add_names, {}, {},
                             content.add_fields, content.add_branch_stacks);
  if (!statistics) {
    return statistics;
  }
  if (const Status committed = out.value()->commit(); !committed) {
    return committed.error();
  }
  return statistics;
}

/// The bytes of the file; empty when writing failed.
inline std::vector<std::byte> spk_bytes(const SpkContent& content,
                                        const spk::WriterOptions& options = {}) {
  const ScratchDirectory directory;
  const std::string path = directory.file("file.spk");
  return write_spk(content, options, path) ? read_test_file(path) : std::vector<std::byte>{};
}

}  // namespace stackpack::test
