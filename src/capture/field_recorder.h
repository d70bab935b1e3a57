#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/control_group_table.h"
#include "capture/label_recorder.h"
#include "io/spill_file.h"
#include "scratch/external_sort.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::capture {

/// A bit of Sample::flags between source and file: FieldRecorder has fields of the sample.
inline constexpr std::uint8_t kSampleHasFields = 128;

/// Collects the fields of samples, and finds out which samples of the file they belong to.
///
/// Law: samples are sorted by time (in a merge, by the source's rank among equal times) and keep
/// their order else. Fields are sorted alike, so the n-th marked sample of the file has the n-th
/// fields.
///
/// Use: add() before each sample with fields is handed to the sink, marked kSampleHasFields;
/// place() for every marked sample, in the order of the file; finish() once.
/// Memory: kRows rows and kNumbers numbers; more goes to scratch files. Threads: one at a time.
class FieldRecorder {
 public:
  void configure(const std::string& scratch_directory) {
    scratch_directory_ = scratch_directory;
    labels_.configure(scratch_directory);
    numbers_file_ = std::make_unique<io::SpillFile>(scratch_directory);
  }

  /// What cannot be written to scratch is an error of finish(). `row.sample` is not looked at.
  void add(std::uint64_t time_ns, std::uint32_t rank, const FieldRow& row);

  /// The next marked sample is the one with this number.
  void place(std::uint64_t sample);

  [[nodiscard]] bool empty() const { return order_ == 0; }

  /// What SampleField::kControlGroup of the rows that are added is a number of.
  [[nodiscard]] ControlGroupTable& control_groups() { return control_groups_; }

  /// What SampleField::kLabelSet of the rows that are added is a number of.
  [[nodiscard]] LabelRecorder& labels() { return labels_; }

  /// All rows in the order of samples; their control groups are rows of the sorted table, and their
  /// labels those that labels() visits then. Errors: kIo, kCorrupt, and those of the visitor, which
  /// may change the row.
  Status finish(const std::function<Status(FieldRow&)>& visit);

 private:
  static constexpr std::size_t kRows = std::size_t{1} << 15;
  static constexpr std::size_t kNumbers = std::size_t{1} << 15;

  struct TimedRow {
    std::uint64_t time_ns = 0;
    std::uint64_t order = 0;
    std::uint32_t rank = 0;
    FieldRow row;
  };

  struct InFile {
    static std::uint64_t key(const TimedRow& row) { return row.time_ns; }
    static bool before(const TimedRow& a, const TimedRow& b);
  };
  Status settle_labels();
  Result<bool> next_number(std::uint64_t& sample);
  Status give(const TimedRow& timed, const std::vector<std::uint32_t>& control_groups,
              const std::function<Status(FieldRow&)>& visit);

  std::string scratch_directory_ = ".";
  Status status_;
  std::unique_ptr<scratch::ExternalSort<TimedRow, InFile>> rows_;
  std::uint64_t order_ = 0;
  ControlGroupTable control_groups_;
  LabelRecorder labels_;
  // Numbers of marked samples, in their order: those in the file, then those in memory.
  std::unique_ptr<io::SpillFile> numbers_file_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> read_;  // of the file
  std::uint64_t read_bytes_ = 0;
  std::size_t next_ = 0;
};

}  // namespace stackpack::capture
