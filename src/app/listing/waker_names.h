#pragma once

#include <string_view>

#include "app/listing/wait_filter.h"
#include "query/selection/waker_threads.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// Finds the names of those who ended blocks. Memory: a row a thread.
class WakerNames {
 public:
  explicit WakerNames(const WaitTables& tables);

  /// That of the thread, else of its process. Empty where there is none, and for interrupts: the
  /// thread that ran then did not wake anybody.
  [[nodiscard]] std::string_view name(const WaitInterval& row) const;

 private:
  query::WakerThreads threads_;
};

}  // namespace stackpack::app
