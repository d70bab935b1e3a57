// Since when processes and threads have their names, where a file has a thread for each of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "capture/system_recorder.h"

namespace stackpack::capture {

/// Names of processes and threads, each with the first time at which a sample has it; samples come
/// in any time order.
///
/// Memory: the distinct (process, thread, name): no more than the threads and profiles that the
/// reader of a file allows.
class NameTimes {
 public:
  void process(std::uint32_t pid, std::uint64_t time_ns, std::string_view name) {
    add({pid, kUnknownId}, time_ns, name);
  }
  void thread(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns, std::string_view name) {
    add({pid, tid}, time_ns, name);
  }

  /// The first name of each is the one that it had before.
  void tell(SystemRecorder& system) const;

 private:
  using Id = std::pair<std::uint32_t, std::uint32_t>;

  void add(Id id, std::uint64_t time_ns, std::string_view name);

  std::map<Id, std::map<std::string, std::uint64_t, std::less<>>> names_;
};

}  // namespace stackpack::capture
