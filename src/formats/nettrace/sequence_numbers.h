// Which events are missing, by the numbers of those that are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "capture/loss_counters.h"

namespace stackpack::nettrace {

/// Every capturing thread numbers its events 1, 2, 3..., those that the recorder threw away, too.
/// Numbers are modulo 2^32; one that lies half of that or more ahead went back.
///
/// Memory: 16 bytes and a hash entry for each of kMostThreads.
class SequenceNumbers {
 public:
  static constexpr std::size_t kMostThreads = std::size_t{1} << 18;

  SequenceNumbers(std::uint32_t version, capture::LossCounters& losses)
      : version_(version), losses_(losses) {}

  /// An event of `thread`.
  void event(std::uint64_t thread, std::uint32_t number, std::uint64_t offset);
  /// What a sequence point says: the last number that `thread` gave.
  void last_was(std::uint64_t thread, std::uint32_t number, std::uint64_t offset);

  /// Version 6: a thread appears, and its numbers begin at 1.
  void thread_appears(std::uint64_t thread);
  /// Version 6: it is gone after `number`. False: nobody knows it.
  bool thread_is_gone(std::uint64_t thread, std::uint32_t number, std::uint64_t offset);
  void forget();

  /// Events that are missing so far, and events seen.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  void gap(std::uint32_t last, std::uint32_t now, std::uint64_t offset);
  void lose(std::uint64_t events, std::uint64_t offset);
  void keep(std::uint64_t thread, std::uint32_t number, std::uint64_t offset);

  std::uint32_t version_;
  capture::LossCounters& losses_;
  std::unordered_map<std::uint64_t, std::uint32_t> last_;
  std::uint64_t lost_ = 0;
};

}  // namespace stackpack::nettrace
