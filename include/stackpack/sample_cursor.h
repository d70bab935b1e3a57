// Samples in columns: for those who read millions of them and not every field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack {

/// A set of columns is the sum of these.
enum SampleColumn : std::uint32_t {
  kTimeColumn = 1,
  kPidColumn = 2,
  kTidColumn = 4,
  kCpuColumn = 8,
  kEventColumn = 16,
  kWeightColumn = 32,
  kOriginColumn = 64,
  kFlagsColumn = 128,
  kStackColumn = 256,
  kAllSampleColumns = 511,
  kStackEntryColumn = 512,  ///< callstacks by their numbers in StackEntries, not among "all"
};

/// Where the values of each column go. Those of columns that were not asked for are not looked at,
/// and where there is no array, nothing is copied.
struct SampleArrays {
  std::uint64_t* time_ns = nullptr;
  std::uint32_t* pid = nullptr;
  std::uint32_t* tid = nullptr;
  std::uint32_t* cpu = nullptr;
  std::uint32_t* event = nullptr;  ///< below the number of events
  std::uint64_t* weight = nullptr;
  StackOrigin* origin = nullptr;
  std::uint8_t* flags = nullptr;
  StackId* stack = nullptr;        ///< below the number of callstacks, or kNoStack
  std::uint32_t* entry = nullptr;  ///< below the size of StackEntries
};

/// The callstacks of a block of samples, each once for each thread: what is asked of each of these
/// need not be asked of each sample.
struct StackEntries {
  std::uint64_t block = 0;  ///< its number
  /// The earliest and latest time of its samples, whichever of them match.
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  // Spans of one size. The first entry is that of samples without a callstack.
  std::span<const std::uint32_t> pid;
  std::span<const StackId> stack;  ///< below the number of callstacks; of the first one kNoStack
};

/// Samples of a block with the same thread and callstack, added up.
struct EntrySum {
  std::uint64_t first_time_ns = 0;
  std::uint64_t last_time_ns = 0;
  std::uint64_t weight = 0;  ///< saturates; 0 unless the column was asked for
  std::uint32_t count = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  StackId stack = kNoStack;  ///< below the number of callstacks
  std::uint8_t flags = 0;    ///< of each; 0 unless the column was asked for
};

/// The samples of a block added up by entry.
struct EntrySums {
  /// The earliest and latest time of the block.
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint32_t event = 0;     ///< of all samples, below the number of events
  bool equal_weights = false;  ///< samples of an entry do not differ in weight
  /// In the order in which their first samples come; valid until the next rows are asked for.
  std::span<const EntrySum> rows;
};

/// Samples in columns. Those of columns that were not asked for are empty.
struct SampleColumns {
  std::size_t rows = 0;
  std::span<const std::uint64_t> time_ns;
  std::span<const std::uint32_t> pid;
  std::span<const std::uint32_t> tid;
  std::span<const std::uint32_t> cpu;
  std::span<const std::uint32_t> event;
  std::span<const std::uint64_t> weight;
  std::span<const StackOrigin> origin;
  std::span<const std::uint8_t> flags;
  std::span<const StackId> stack;
  std::span<const std::uint32_t> entry;
  StackEntries entries;  ///< with the column of their numbers
};

/// What a SampleCursor reads.
struct SampleScan {
  SampleQuery query;
  std::uint32_t columns = kAllSampleColumns;  ///< a column that is not there is not decoded
  /// Blocks of samples (Reader::sample_block_count()): from the first one to before the last one,
  /// so that several threads can share a file.
  std::uint64_t first_block = 0;
  std::uint64_t end_block = ~std::uint64_t{0};
};

/// The samples of a file that match a query, in the order of Reader::samples(), column by column.
///
/// Values that are given have been checked; those of columns that were not asked for have not.
/// Memory:  a block of 65,536 samples.
/// Threads: one at a time; any number of cursors may read one file.
/// Errors:  as Reader::samples().
class SampleCursor {
 public:
  /// The reader must outlive the cursor. Errors: kUsage: a file without samples.
  static Result<std::unique_ptr<SampleCursor>> open(const Reader& reader, const SampleScan& scan);

  /// Goes on with other blocks than those of the scan, as its first_block and end_block.
  void go_to(std::uint64_t first_block, std::uint64_t end_block);

  /// How many rows take() has left, at most 65,536; reads on when there are none. 0: the end.
  Result<std::size_t> ready();

  /// Moves the next `rows` rows, at most as many as ready() gave, to `to`, whose arrays have room
  /// for them.
  void take(std::size_t rows, const SampleArrays& to);

  /// What the column of entries refers to, when it was asked for: of the rows that ready() gave,
  /// valid until it reads on.
  [[nodiscard]] StackEntries stack_entries() const;

  /// The rows that ready() gave, added up, of a scan with the column of entries; take() may follow.
  /// False: they are not a whole block in the order of its times, there are several events (when
  /// their column was asked for), a sample without a callstack, or samples of an entry with other
  /// flags (likewise).
  bool sum(EntrySums& sums);

  SampleCursor(const SampleCursor&) = delete;
  SampleCursor& operator=(const SampleCursor&) = delete;
  ~SampleCursor();

 private:
  struct Impl;
  explicit SampleCursor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Visits what a cursor gives, in pieces of at most 65,536 rows, valid during the visit. A visitor
/// returns whether to go on; when it does not, the call ends and succeeds.
///
/// Threads: the visitor is called on this one. Blocks to come are decoded meanwhile by others,
/// where
///          the machine has processors for them; not with the column of entries.
/// Memory:  some blocks of samples, of the columns that are asked for.
Status visit_samples(const Reader& reader, const SampleScan& scan,
                     const std::function<bool(const SampleColumns&)>& visit);

/// A pass over samples that several threads share: each block is made into something by the thread
/// that has decoded it, and that is taken in the order of the blocks.
struct SamplePass {
  /// No more workers, and places for what blocks are made into, than these.
  static constexpr std::size_t kWorkers = 4;
  static constexpr std::size_t kPlaces = kWorkers + 2;

  /// Of a block with samples that match, whose columns are valid during the call. On any thread,
  /// but no two calls at a time have the same worker or place; they are numbered from 0.
  std::function<Status(std::size_t worker, std::size_t place, const SampleColumns&)> make;
  /// May be empty: asked first of a block that can be added up (SampleCursor::sum()), in the same
  /// way. True: the block is made; false: make() is called.
  std::function<Result<bool>(std::size_t worker, std::size_t place, const EntrySums&)> sum{};
  /// On the caller's thread; the place is used again afterwards.
  std::function<Status(std::size_t place)> take;
};

/// The samples that visit_samples() visits, with the column of entries, too.
///
/// Threads: as many as the machine has processors, besides the caller's; none where that has one or
///          there are few blocks. What is taken does not depend on it.
/// Memory:  a block of samples, of the columns that are asked for, and what decodes it, for each
///          thread: some 8 MB; and what the pass keeps at its places.
/// Errors:  as Reader::samples(); those of make() and take(), the first in the order of the blocks.
Status visit_samples_in_parts(const Reader& reader, const SampleScan& scan, const SamplePass& pass);

}  // namespace stackpack
