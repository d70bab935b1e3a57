// Reads .spk files. See docs/format.md for the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/branches.h"
#include "stackpack/event_values.h"
#include "stackpack/labels.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"
#include "stackpack/stats.h"
#include "stackpack/waits.h"

namespace stackpack {

namespace io {
class ByteSource;
}  // namespace io

struct MergedSource;  // sources.h
struct Names;         // names.h

struct ReaderOptions {
  /// Upper bound of the page cache in bytes. Each thread may hold one page more while it decodes.
  std::uint64_t cache_bytes = std::uint64_t{64} << 20;
};

/// Which samples to visit. Every condition that is set must hold. The times select blocks of
/// samples before anything is read; a process or thread does not.
struct SampleQuery {
  std::uint64_t from_ns = 0;                ///< first time, inclusive
  std::uint64_t to_ns = ~std::uint64_t{0};  ///< last time, inclusive
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  /// Samples that are near each other in time may come in another order, the same each time: for
  /// sums, which do not care. Cheaper.
  bool any_order = false;
};

/// What the page cache did so far.
struct CacheCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t bytes = 0;  ///< held now
};

/// An open .spk file. Immutable; the input is not trusted.
///
/// Opening reads the header, the directory and the summary only. Pages are read on demand and
/// checked before they are used; those that are asked for again are kept in a cache of bounded
/// size, least recently used out first.
/// Threads:   const methods may be called from any number of threads.
/// Errors:    kIo, kCorrupt, kTruncated, kUnsupported (a newer major version, an unknown required
///            section), with the offset in the .spk file.
class Reader {
 public:
  /// A file of any size costs two small reads to open, and its summary. The file may be replaced
  /// while it is open, but must not be written to.
  static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                              const ReaderOptions& options = {});
  /// The descriptor stays the caller's and must stay open; it must be seekable.
  static Result<std::unique_ptr<Reader>> open_descriptor(int descriptor,
                                                         const ReaderOptions& options = {});
  /// The memory must outlive the reader.
  static Result<std::unique_ptr<Reader>> open_memory(std::span<const std::byte> file,
                                                     const ReaderOptions& options = {});

  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  [[nodiscard]] std::uint64_t file_bytes() const;
  /// As the summary has them; they live as long as the reader. Opening does not compare them with
  /// the file: verify() does.
  [[nodiscard]] const Statistics& statistics() const;
  /// What the file was made of and with: see convert().
  [[nodiscard]] std::string_view fingerprint() const;
  /// All sections, headers and trailer included; their stored bytes add up to file_bytes().
  [[nodiscard]] const std::vector<SectionInfo>& sections() const;

  /// Stack ids are 0 .. stack_count() - 1.
  [[nodiscard]] StackId stack_count() const;

  /// The frames of callstack `id`, leaf first, into `frames` (replaced; reuse it).
  /// Errors: kUsage when there is no such id. Cost: one page; of a page that is not in the cache,
  /// and was not asked for lately, what comes before the callstack's end is checked and followed.
  Status callstack(StackId id, std::vector<Frame>& frames) const;

  // A visitor returns whether to go on; when it does not, the call ends and succeeds. What it is
  // given is valid during the visit.

  /// The callstacks of many ids, each page loaded once: visit(position in ids, frames leaf first).
  /// Ids may come in any order and repeat; the visits come in the order of the ids' pages.
  Status callstacks(std::span<const StackId> ids,
                    const std::function<bool(std::size_t, std::span<const Frame>)>& visit) const;

  /// The samples that match, in time order (equal times in the order of the capture) unless the
  /// query asks for any order, in blocks. Blocks outside the time range are not read.
  Status samples(const SampleQuery& query,
                 const std::function<bool(std::span<const StoredSample>)>& visit) const;

  /// Samples are stored in blocks, in the order of the capture: number of blocks. Errors: as
  /// samples().
  [[nodiscard]] Result<std::uint64_t> sample_block_count() const;
  /// What samples() visits of one block, into `samples` (replaced; reuse it): no row when it has
  /// none that match. For those who ask for samples instead of being visited. Errors: as samples();
  /// kUsage when there is no such block.
  Status sample_block(std::uint64_t block, const SampleQuery& query,
                      std::vector<StoredSample>& samples) const;

  /// False when the samples themselves were left out; stack_counts() has what is left then.
  [[nodiscard]] bool has_samples() const;
  /// Errors: kUsage when the file has samples.
  [[nodiscard]] Result<std::vector<StackCount>> stack_counts() const;

  /// Times of the first and the last sample, ns of the capture's clock.
  struct TimeRange {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
  };
  /// Nothing when the file has no samples, or none was taken. Cost: the index of the samples.
  [[nodiscard]] Result<std::optional<TimeRange>> time_range() const;

  // The tables of the recorded system, whole, decoded anew by each call: the caller owns what it is
  // given. The order of rows is in docs/format.md, section 6. Errors: kIo, kCorrupt.

  /// What was counted; Sample::event is a row of it.
  [[nodiscard]] Result<std::vector<Event>> events() const;
  [[nodiscard]] Result<std::vector<Process>> processes() const;
  [[nodiscard]] Result<std::vector<Thread>> threads() const;
  [[nodiscard]] Result<std::vector<Module>> modules() const;
  [[nodiscard]] Result<std::vector<MetadataEntry>> metadata() const;
  /// What a merged file was made of; empty for any other file. See sources.h.
  [[nodiscard]] Result<std::vector<MergedSource>> sources() const;
  /// Functions, inlined calls and lines; no rows in a file without names. See symbols.h.
  [[nodiscard]] Result<Names> names() const;
  /// Branches of a capture with branch stacks, summed up; no rows in any other file. See
  /// branches.h.
  [[nodiscard]] Result<Branches> branches() const;

  /// Whether the file says what threads do when they do not run.
  [[nodiscard]] bool has_intervals() const;
  /// The intervals that match, in blocks, in the order of the file: by source, thread and time.
  /// Errors: kIo, kCorrupt. Cost: all blocks are read.
  Status intervals(const WaitQuery& query,
                   const std::function<bool(std::span<const WaitInterval>)>& visit) const;
  /// What WaitInterval::reason is a row of; row 0 is empty. States of Linux as `ps` has them (S, D,
  /// T, ...), R or R+ of the preempted; of Windows wait reason and mode, UserRequest/u; `new` of a
  /// thread's birth; `?` where none was recorded.
  [[nodiscard]] Result<std::vector<std::string>> wait_reasons() const;

  /// Whether the file says what its events say besides their callstacks. See event_values.h.
  [[nodiscard]] bool has_event_values() const;
  /// The kinds of values with their fields, and the texts that fields name.
  [[nodiscard]] Result<std::vector<ValueSchema>> event_value_kinds() const;
  [[nodiscard]] Result<std::vector<std::string>> event_value_texts() const;
  /// All values in order of time, in blocks. Errors: kIo, kCorrupt.
  Status event_values(const std::function<bool(std::span<const EventValue>)>& visit) const;

  /// Whether samples have fields besides their callstacks. See sample_fields.h.
  [[nodiscard]] bool has_sample_fields() const;
  /// The fields of all samples that have any, in the order of the samples, in blocks. Errors: kIo,
  /// kCorrupt.
  Status sample_fields(const std::function<bool(std::span<const FieldRow>)>& visit) const;
  /// What SampleField::kControlGroup is a row of. Errors: kIo, kCorrupt.
  [[nodiscard]] Result<std::vector<ControlGroup>> control_groups() const;
  /// The sets of labels that SampleField::kLabelSet is a row of, in blocks. See labels.h. Errors:
  /// kIo, kCorrupt.
  Status label_sets(const std::function<bool(std::span<const LabelSet>)>& visit) const;
  [[nodiscard]] std::uint64_t label_set_count() const;
  /// The rows of the block with this number, counted from 0, into `rows` (replaced): none beyond
  /// the last. For those who go through samples alongside. Errors: kIo, kCorrupt.
  Status sample_field_block(std::size_t number, std::vector<FieldRow>& rows) const;

  /// Whether the file has whole branch stacks of samples: convert --keep-branches.
  [[nodiscard]] bool has_branch_stacks() const;
  /// SampleField::kBranchStack of samples is 0 .. branch_stack_count() - 1: the same number where
  /// the branches are the same, whatever the cycles between them. 0 in a file without branch
  /// stacks. Errors: kIo, kCorrupt. Cost: the tables of the branch stacks are loaded, once.
  [[nodiscard]] Result<std::uint64_t> branch_stack_count() const;
  /// The branches of a sample with these fields, newest first, into `branches` (replaced; reuse
  /// it); none where the fields name none. Errors: kIo, kCorrupt, also when there is no such
  /// stack. Cost: as twice callstack().
  Status branch_stack(const FieldRow& fields, std::vector<StackedBranch>& branches) const;

  /// Counters of all threads so far. Each is right; together they may be of different moments.
  [[nodiscard]] CacheCounters cache() const;

  /// Bytes that the callstacks take in this reader's memory when all pages are loaded. Reads every
  /// page once and keeps none. Errors: as callstack().
  [[nodiscard]] Result<std::uint64_t> resident_bytes() const;

  /// Reads everything: every checksum, every page, every index, every sample block, every table,
  /// their order and keys, and that the statistics fit. docs/format.md, section 8, lists what is
  /// not compared. Errors: as of opening, with the rule that is broken.
  [[nodiscard]] Status verify() const;

 private:
  friend class SampleCursor;  // sample_cursor.h: samples in columns
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<Reader>> open_source(std::unique_ptr<io::ByteSource> source,
                                                     const ReaderOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackpack
