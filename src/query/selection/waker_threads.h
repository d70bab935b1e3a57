// Which thread an interval means by the id of its waker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "query/selection/capture_view.h"
#include "stackpack/model.h"

namespace stackpack::query {

/// The threads of a file by source and id. In a merged file threads of one source wake each other.
/// Memory: a row a thread.
class WakerThreads {
 public:
  struct Row {
    std::uint32_t source = 0;
    std::uint32_t tid = 0;
    std::uint64_t start_ns = 0;
    std::uint32_t pid = kUnknownId;
    std::string name;  ///< of the thread, else of its process; may be empty
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The view is read here alone.
  explicit WakerThreads(const CaptureView& view);

  /// The row of the thread `tid` of the source of process `pid` at a time, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint32_t pid, std::uint32_t tid,
                                   std::uint64_t time_ns) const;
  [[nodiscard]] const Row& operator[](std::uint32_t row) const { return rows_[row]; }

 private:
  [[nodiscard]] std::uint32_t source_of(std::uint32_t pid) const;

  std::vector<std::uint64_t> source_firsts_;
  std::vector<Row> rows_;  // by source, tid, start
};

}  // namespace stackpack::query
