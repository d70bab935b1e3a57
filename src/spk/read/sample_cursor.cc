#include "stackpack/sample_cursor.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "core/ordered_pipeline.h"
#include "spk/format/layout.h"
#include "spk/read/reader_impl.h"
#include "spk/read/sample_columns_decoder.h"

namespace stackpack {

struct SampleCursor::Impl {
  Impl(Reader::Impl& opened, const SampleScan& asked, const spk::SampleBounds& limits)
      : file(opened), scan(asked), bounds(limits), scratch(opened.blocks.borrow()) {}

  Status read(const spk::SampleBlocks::Block& block);

  Reader::Impl& file;
  SampleScan scan;
  spk::SampleBounds bounds;
  spk::BlockReader::Lease scratch;
  spk::SampleColumnsDecoder decoder;
  spk::SampleHead head;
  std::uint64_t next_block = 0;
  std::uint64_t end_block = 0;
  std::size_t begin = 0;  // rows of the decoder that are taken
  std::size_t end = 0;
};

SampleCursor::SampleCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SampleCursor::~SampleCursor() = default;

Result<std::unique_ptr<SampleCursor>> SampleCursor::open(const Reader& reader,
                                                         const SampleScan& scan) {
  const Result<spk::SampleBounds> bounds = reader.impl_->sample_bounds(reader);
  if (!bounds) {
    return bounds.error();
  }
  auto impl = std::make_unique<Impl>(*reader.impl_, scan, *bounds);
  std::unique_ptr<SampleCursor> cursor(new SampleCursor(std::move(impl)));
  cursor->go_to(scan.first_block, scan.end_block);
  return cursor;
}

void SampleCursor::go_to(std::uint64_t first_block, std::uint64_t end_block) {
  impl_->begin = 0;
  impl_->end = 0;
  impl_->next_block = first_block;
  impl_->end_block = std::min<std::uint64_t>(end_block, impl_->file.samples.blocks().size());
}

// The rows of a block that match; none of one that need not be read.
Status SampleCursor::Impl::read(const spk::SampleBlocks::Block& block) {
  begin = 0;
  end = 0;
  const SampleQuery& query = scan.query;
  if (block.entry.from_ns > query.to_ns || block.entry.to_ns < query.from_ns) {
    return {};
  }
  if (const Status opened = file.samples.read_head(block, *scratch, head); !opened) {
    return opened;
  }
  const bool by_thread = query.pid.has_value() || query.tid.has_value();
  if (by_thread && !spk::has_wanted_thread(head, query)) {
    return {};
  }
  const bool some =
      by_thread || block.entry.from_ns < query.from_ns || block.entry.to_ns > query.to_ns;
  const std::uint32_t needed =
      (some ? kTimeColumn : 0U) | (by_thread ? kPidColumn | kTidColumn : 0U);
  if (const Status decoded = file.samples.read_columns(block, head, bounds, scan.columns | needed,
                                                       !query.any_order, *scratch, decoder);
      !decoded) {
    return decoded;
  }
  if (some) {
    decoder.select(query);
  }
  end = decoder.rows();
  return {};
}

Result<std::size_t> SampleCursor::ready() {
  while (impl_->begin == impl_->end && impl_->next_block < impl_->end_block) {
    const auto number = static_cast<std::size_t>(impl_->next_block++);
    if (const Status read = impl_->read(impl_->file.samples.blocks()[number]); !read) {
      return read.error();
    }
  }
  return impl_->end - impl_->begin;
}

void SampleCursor::take(std::size_t rows, const SampleArrays& to) {
  rows = std::min(rows, impl_->end - impl_->begin);
  impl_->decoder.copy(impl_->begin, rows, impl_->scan.columns, to);
  impl_->begin += rows;
}

StackEntries SampleCursor::stack_entries() const {
  StackEntries entries = impl_->decoder.stack_entries();
  entries.block = impl_->next_block - 1;
  return entries;
}

bool SampleCursor::sum(EntrySums& sums) {
  return impl_->begin == 0 && impl_->end != 0 && impl_->decoder.sum(impl_->scan.columns, sums);
}

namespace {

// Room for the columns of a block.
struct BlockArrays {
  std::vector<std::uint64_t> time_ns;
  std::vector<std::uint32_t> pid;
  std::vector<std::uint32_t> tid;
  std::vector<std::uint32_t> cpu;
  std::vector<std::uint32_t> event;
  std::vector<std::uint64_t> weight;
  std::vector<StackOrigin> origin;
  std::vector<std::uint8_t> flags;
  std::vector<StackId> stack;
  std::vector<std::uint32_t> entry;
};

template <typename Value>
void fit(std::vector<Value>& values, std::uint32_t columns, SampleColumn column, std::size_t rows,
         Value*& to, std::span<const Value>& given) {
  if ((columns & column) == 0) {
    return;
  }
  if (values.size() < rows) {
    values.resize(
        std::max<std::size_t>(rows, std::min<std::size_t>(2 * rows, spk::kSamplesPerBlock)));
  }
  to = values.data();
  given = std::span<const Value>(values).first(rows);
}

void fit_all(BlockArrays& all, std::uint32_t columns, SampleArrays& to, SampleColumns& given) {
  const std::size_t rows = given.rows;
  fit(all.time_ns, columns, kTimeColumn, rows, to.time_ns, given.time_ns);
  fit(all.pid, columns, kPidColumn, rows, to.pid, given.pid);
  fit(all.tid, columns, kTidColumn, rows, to.tid, given.tid);
  fit(all.cpu, columns, kCpuColumn, rows, to.cpu, given.cpu);
  fit(all.event, columns, kEventColumn, rows, to.event, given.event);
  fit(all.weight, columns, kWeightColumn, rows, to.weight, given.weight);
  fit(all.origin, columns, kOriginColumn, rows, to.origin, given.origin);
  fit(all.flags, columns, kFlagsColumn, rows, to.flags, given.flags);
  fit(all.stack, columns, kStackColumn, rows, to.stack, given.stack);
  fit(all.entry, columns, kStackEntryColumn, rows, to.entry, given.entry);
}

// Samples of one cursor, with room of their own.
struct Piece {
  std::uint64_t block = 0;
  BlockArrays arrays;
  SampleColumns given;

  // Takes what the cursor has ready, no rows at its end.
  Status take_from(SampleCursor& cursor, std::uint32_t columns) {
    given = {};
    const Result<std::size_t> rows = cursor.ready();
    if (!rows || *rows == 0) {
      return rows ? Status{} : Status(rows.error());
    }
    given.rows = *rows;
    SampleArrays to;
    fit_all(arrays, columns, to, given);
    cursor.take(*rows, to);
    return {};
  }
};

Status visit_in_turn(SampleCursor& cursor, const SampleScan& scan,
                     const std::function<bool(const SampleColumns&)>& visit) {
  Piece piece;
  for (;;) {
    const Status taken = piece.take_from(cursor, scan.columns);
    if (!taken || piece.given.rows == 0) {
      return taken;
    }
    if ((scan.columns & kStackEntryColumn) != 0) {
      piece.given.entries = cursor.stack_entries();
    }
    if (!visit(piece.given)) {
      return {};
    }
  }
}

// Each cursor belongs to a thread, which decodes the blocks that come while others are visited.
Status visit_ahead(std::span<const std::unique_ptr<SampleCursor>> cursors, const SampleScan& scan,
                   std::uint64_t end_block,
                   const std::function<bool(const SampleColumns&)>& visit) {
  bool stopped = false;
  core::OrderedPipeline<Piece> pipeline(
      static_cast<unsigned>(cursors.size()), cursors.size() + 2,
      [&](unsigned worker, Piece& piece) {
        SampleCursor& cursor = *cursors[worker];
        cursor.go_to(piece.block, piece.block + 1);
        return piece.take_from(cursor, scan.columns);
      },
      [&](Piece& piece) -> Status {
        stopped = piece.given.rows != 0 && !visit(piece.given);
        return stopped ? Status(Error{ErrorCode::kUsage, kNoOffset, "stopped"}) : Status{};
      });
  Status status;
  for (std::uint64_t block = scan.first_block; status && block < end_block; ++block) {
    pipeline.filling().block = block;
    status = pipeline.submit();
  }
  status = status ? pipeline.drain() : status;
  return stopped ? Status{} : status;
}

constexpr std::uint64_t kFewBlocks = 3;  // which are decoded sooner than a thread is started

/// A block of a pass, and the place of what it is made into.
struct PassBlock {
  std::uint64_t block = 0;
  std::size_t place = 0;
  bool any = false;
};

/// What a thread of a pass has.
struct PassWorker {
  std::unique_ptr<SampleCursor> cursor;
  Piece piece;

  Status make(std::size_t number, const SampleScan& scan, const SamplePass& pass, PassBlock& of) {
    cursor->go_to(of.block, of.block + 1);
    const Result<bool> summed = pass.sum ? sum(number, pass, of) : Result<bool>(false);
    if (!summed || *summed) {
      return summed ? Status{} : Status(summed.error());
    }
    const Status taken = piece.take_from(*cursor, scan.columns);
    of.any = taken && piece.given.rows != 0;
    if (!of.any) {
      return taken;
    }
    if ((scan.columns & kStackEntryColumn) != 0) {
      piece.given.entries = cursor->stack_entries();
    }
    return pass.make(number, of.place, piece.given);
  }

  // Whether the block was made of sums.
  Result<bool> sum(std::size_t number, const SamplePass& pass, PassBlock& of) {
    const Result<std::size_t> rows = cursor->ready();
    if (!rows) {
      return rows.error();
    }
    EntrySums sums;
    const Result<bool> made =
        cursor->sum(sums) ? pass.sum(number, of.place, sums) : Result<bool>(false);
    of.any = made && *made;
    return made;
  }
};

}  // namespace

Status visit_samples_in_parts(const Reader& reader, const SampleScan& scan,
                              const SamplePass& pass) {
  const Result<std::uint64_t> blocks = reader.sample_block_count();
  if (!blocks) {
    return blocks.error();
  }
  const std::uint64_t end_block = std::min<std::uint64_t>(scan.end_block, *blocks);
  const unsigned processors = std::thread::hardware_concurrency();
  const bool shared =
      processors > 1 && scan.first_block < end_block && end_block - scan.first_block > kFewBlocks;
  const std::size_t threads =
      shared ? std::min<std::size_t>(SamplePass::kWorkers, processors) : std::size_t{0};
  std::vector<PassWorker> workers(std::max<std::size_t>(threads, 1));
  for (PassWorker& worker : workers) {
    Result<std::unique_ptr<SampleCursor>> cursor = SampleCursor::open(reader, scan);
    if (!cursor) {
      return cursor.error();
    }
    worker.cursor = std::move(*cursor);
  }
  const std::size_t places = shared ? threads + 2 : 1;
  core::OrderedPipeline<PassBlock> pipeline(
      static_cast<unsigned>(threads), places,
      [&](unsigned worker, PassBlock& of) { return workers[worker].make(worker, scan, pass, of); },
      [&](PassBlock& of) { return of.any ? pass.take(of.place) : Status{}; });
  Status status;
  for (std::uint64_t block = scan.first_block; status && block < end_block; ++block) {
    pipeline.filling() = {block, static_cast<std::size_t>((block - scan.first_block) % places),
                          false};
    status = pipeline.submit();
  }
  return status ? pipeline.drain() : status;
}

Status visit_samples(const Reader& reader, const SampleScan& scan,
                     const std::function<bool(const SampleColumns&)>& visit) {
  constexpr unsigned kMostThreads = 3;  // a visitor needs about as long as its samples' decoding
  const Result<std::uint64_t> blocks = reader.sample_block_count();
  const std::uint64_t end_block = std::min<std::uint64_t>(scan.end_block, blocks ? *blocks : 0);
  const unsigned processors = std::thread::hardware_concurrency();
  const bool ahead = (scan.columns & kStackEntryColumn) == 0 && processors > 1 &&
                     scan.first_block < end_block && end_block - scan.first_block > kFewBlocks;
  std::vector<std::unique_ptr<SampleCursor>> cursors;
  do {
    Result<std::unique_ptr<SampleCursor>> cursor = SampleCursor::open(reader, scan);
    if (!cursor) {
      return cursor.error();
    }
    cursors.push_back(std::move(*cursor));
  } while (ahead && cursors.size() < std::min(kMostThreads, processors - 1));
  return ahead ? visit_ahead(cursors, scan, end_block, visit)
               : visit_in_turn(*cursors.front(), scan, visit);
}

}  // namespace stackpack
