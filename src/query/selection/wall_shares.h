// The time that threads ran, shared out among the samples that were taken of them then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "query/selection/capture_view.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::query {

/// Runs of threads, and how many samples of events that say where time goes lie in each. Such a
/// sample stands for an equal part of its run; the first ones for what does not divide.
/// Memory: 32 bytes a run.
class WallShares {
 public:
  /// Reads intervals and samples once. Errors: those of the reader.
  static Result<std::shared_ptr<const WallShares>> create(const Reader& reader,
                                                          const CaptureView& view);

  /// Whether no sample was taken during a running interval.
  [[nodiscard]] bool is_empty(const WaitInterval& run) const;
  /// Samples that have a share, and runs that have none.
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t empty_runs() const { return empty_runs_; }

  /// One pass over the samples of the file, in any order.
  class Pass {
   public:
    explicit Pass(const WallShares& shares) : shares_(shares), seen_(shares.runs_.size(), 0) {}
    /// The ns that a sample stands for; nothing: it has no share.
    std::optional<std::uint64_t> share_of(const StoredSample& sample);

   private:
    const WallShares& shares_;
    std::vector<std::uint32_t> seen_;
  };

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Run {
    std::uint64_t thread = 0;  // source and tid
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
    std::uint64_t samples = 0;
  };

  [[nodiscard]] std::uint64_t thread_of(std::uint32_t pid, std::uint32_t tid) const;
  [[nodiscard]] std::size_t run_at(std::uint64_t thread, std::uint64_t time_ns) const;
  [[nodiscard]] std::size_t run_of(const StoredSample& sample) const;
  Status read_runs(const Reader& reader);

  std::vector<std::uint64_t> source_firsts_;
  std::vector<bool> events_;  // those that say where time goes
  std::vector<Run> runs_;     // by thread, time
  std::uint64_t samples_ = 0;
  std::uint64_t empty_runs_ = 0;
};

}  // namespace stackpack::query
