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
/// Memory: the distinct (process, thread, name), of which there are at most kMost.
class NameTimes {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

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
  std::size_t count_ = 0;
};

}  // namespace stackpack::capture
