#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "spk/format/layout.h"
#include "spk/format/table_codec.h"
#include "spk/read/block_reader.h"
#include "spk/read/branch_stack_store.h"
#include "spk/read/dag_store.h"
#include "spk/read/file_opener.h"
#include "spk/read/sample_blocks.h"
#include "stackpack/reader.h"

namespace stackpack {

/// The parts of an open file.
struct Reader::Impl {
  Impl(std::unique_ptr<io::ByteSource> source, const ReaderOptions& options)
      : blocks(std::move(source)),
        dag(blocks, file.directory, spk::kCallstackSections, options.cache_bytes),
        branch_stacks(blocks, file.directory, options.cache_bytes),
        samples(blocks, file.directory) {}

  /// The rows of a table; none when the section is optional and not there.
  template <typename Row>
  Result<std::vector<Row>> table(spk::SectionKind kind) {
    std::vector<Row> rows;
    const spk::SectionRecord* const section = file.directory.find(kind);
    if (section == nullptr) {
      return rows;
    }
    spk::BlockReader::Lease scratch = blocks.borrow();
    if (const Status done = spk::for_each_block(
            blocks, *section, *scratch,
            [&](const bytes::ByteCursor& in) { return spk::decode_rows(in, rows); });
        !done) {
      return done.error();
    }
    if (rows.size() != section->items) {
      return Error{ErrorCode::kCorrupt, section->offset, "spk: table: number of rows"};
    }
    return rows;
  }

  /// Loads what callstacks need, and checks the number that the summary gives.
  Status load_dag() {
    const Status loaded = dag.load();
    if (loaded && dag.stack_count() != file.statistics.callstacks.stored) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "spk: summary: number of callstacks"};
    }
    return loaded;
  }

  [[nodiscard]] bool has_samples() const {
    return file.directory.find(spk::SectionKind::kSamples) != nullptr;
  }

  /// Loads the index of the samples; gives what samples may name. Errors: kUsage when there are
  /// none.
  Result<spk::SampleBounds> sample_bounds(const Reader& reader);
  /// The samples of a block that match; none of a block that need not be read.
  Status read_block(const spk::SampleBlocks::Block& block, const SampleQuery& query,
                    const spk::SampleBounds& bounds, spk::ReadScratch& scratch,
                    std::vector<StoredSample>& rows);

  spk::BlockReader blocks;
  spk::OpenedFile file;
  spk::DagStore dag;
  spk::BranchStackStore branch_stacks;
  spk::SampleBlocks samples;
};

}  // namespace stackpack
