#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/string_table.h"
#include "io/spill_file.h"
#include "scratch/spillable_array.h"
#include "stackpack/labels.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// The sets of labels of a capture, each once. They are numbered as they turn up, and in the file
/// in the order of their bytes (bytes::write_labels).
///
/// Use: number_of() for the samples' sets; use() for those that the file has; settle(); then
/// place_of() and visit() any number of times.
/// Memory: kMostSets sets or kMostBytes of them, and a bit for each; more goes to a scratch file,
/// in sorted runs. Threads: one at a time.
class LabelRecorder {
 public:
  static constexpr std::size_t kMostSets = std::size_t{1} << 20;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  explicit LabelRecorder(std::size_t most_sets = kMostSets) : most_sets_(most_sets) {}

  void configure(const std::string& scratch_directory) { scratch_directory_ = scratch_directory; }

  /// Whether values are replaced by `[redacted]`.
  void set_redaction(bool redacts) { redacts_ = redacts; }

  /// The number of a set, which is put in order. What cannot be written to scratch is an error of
  /// settle().
  std::uint64_t number_of(LabelSet& labels);

  /// Labels that were cut, or left out of sets of too many.
  [[nodiscard]] std::uint64_t cut() const { return cut_; }

  [[nodiscard]] bool empty() const { return next_number_ == 0; }

  void use(std::uint64_t number);

  /// Errors: kIo.
  Status settle();

  /// Where the file has a set that is in use. Errors: kIo; kCorrupt: there is no such number.
  Result<std::uint64_t> place_of(std::uint64_t number);

  /// The bytes of all sets in use, in order. Errors: kIo, those of the visitor.
  Status visit(const std::function<Status(std::string_view)>& visit);

 private:
  class Run;
  using VisitNumbers = std::function<Status(std::string_view, std::uint64_t)>;

  [[nodiscard]] std::vector<std::uint32_t> in_order() const;
  Status spill();
  Status visit_entries(const VisitNumbers& visit);
  Status merge_runs(const VisitNumbers& visit);

  std::size_t most_sets_;
  std::string scratch_directory_ = ".";
  bool redacts_ = false;
  Status status_;
  core::StringTable sets_;  // those that are not in a run
  std::size_t set_bytes_ = 0;
  std::uint64_t first_number_ = 0;  // of sets_
  std::uint64_t next_number_ = 0;
  std::uint64_t cut_ = 0;
  struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Extent> runs_;
  std::unique_ptr<io::SpillFile> file_;
  std::vector<bool> used_;  // by number
  std::optional<scratch::SpillableArray<std::uint64_t>> places_;
  std::string bytes_;
};

}  // namespace stackpack::capture
