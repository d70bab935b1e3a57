#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/value_recorder.h"

namespace stackpack::perf {

/// Makes values of NAMESPACES records (`perf record --namespaces`): which namespaces a thread is in
/// from a time on, by the number of each, which is the inode of /proc/PID/ns/NAME.
///
/// Records of what was there before have no time: theirs is that of the first sample, or of the
/// first of these that has one.
/// Memory: kMostEarly records without a time; later ones take their places.
class NamespaceValues {
 public:
  static constexpr std::size_t kMostEarly = std::size_t{1} << 16;

  explicit NamespaceValues(capture::ValueRecorder* values) : values_(values) {}

  /// Whether anything is wanted at all.
  [[nodiscard]] bool active() const { return values_ != nullptr; }

  /// u32 process, u32 thread, u64 count, then device and inode (u64 each): net, uts, ipc, pid,
  /// user, mnt, cgroup, in the order of the kernel's enumeration. `time_ns`: kUnknownTime: before
  /// the capture. False: it is too short.
  bool add(bytes::ByteCursor body, std::uint64_t time_ns);

  /// Once, at the end. `first_sample_ns`: kUnknownTime: there is none. Result:
  /// records whose place was taken.
  std::uint64_t finish(std::uint64_t first_sample_ns);

 private:
  capture::ValueRecorder* values_;
  std::vector<capture::RecordedValue> early_;
  std::uint64_t early_count_ = 0;
  std::uint64_t first_ns_ = kUnknownTime;
};

}  // namespace stackpack::perf
