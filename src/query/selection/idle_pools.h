// Threads that wait for work: of what threads wait for, most is nobody's concern.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::query {

/// Finds them by the rule of docs/waits.md: a thread was able to run (running, woken, preempted,
/// awake) in less than one part in a hundred of the time in which it was so or blocked, or it is an
/// idle worker of the kernel (it blocked for the reason `I`). A thread of which nothing but its
/// waits was recorded is none.
class IdlePools {
 public:
  /// By all intervals of the file. Memory: an entry for each such thread. Errors: the reader's.
  static Result<IdlePools> find(const Reader& reader);

  [[nodiscard]] bool has(std::uint32_t pid, std::uint32_t tid) const {
    return threads_.contains({pid, tid});
  }

  // Step by step, of intervals by thread; for those who look at all of them anyway.
  explicit IdlePools(std::vector<std::string> reasons) : reasons_(std::move(reasons)) {}
  void add(const WaitInterval& row);
  void end_thread();

 private:
  std::vector<std::string> reasons_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> threads_;
  std::uint32_t pid_ = kUnknownId;
  std::uint32_t tid_ = kUnknownId;
  std::uint64_t able_ns_ = 0;
  std::uint64_t blocked_ns_ = 0;
  bool is_idle_worker_ = false;
  bool ends_a_wait_ = false;
  bool is_seen_able_ = false;
};

}  // namespace stackpack::query
