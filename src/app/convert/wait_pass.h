#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/convert/capture_spool.h"
#include "app/convert/interval_sort.h"
#include "app/convert/packed_stacks.h"
#include "capture/loss_counters.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// Which process a thread belonged to at a time.
class ProcessOfThread {
 public:
  explicit ProcessOfThread(const std::vector<Thread>& threads);

  /// Quick for the thread that was asked for last.
  std::uint32_t find(std::uint32_t tid, std::uint64_t time_ns);

 private:
  struct Life {
    std::uint64_t start_ns = 0;
    std::uint32_t pid = kUnknownId;
  };
  std::unordered_map<std::uint32_t, std::vector<Life>> lives_;
  std::uint32_t last_tid_ = kUnknownId;
  const std::vector<Life>* last_lives_ = nullptr;  // of last_tid_; null: it has none
};

/// Makes intervals of the switches that a CaptureSpool holds, when its callstacks have ids. They
/// have no process yet. What could not be said is counted in its losses.
Status find_waits(CaptureSpool& capture, PackedStacks& stacks, IntervalSort& intervals);

/// Names of the counters.
const std::vector<std::string_view>& wait_loss_names();

}  // namespace stackpack::app
