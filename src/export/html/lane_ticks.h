// The clock of a page's intervals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stackpack::exporting {

/// Chooses the finest tick with which the lengths of intervals fit a page: times are most of what
/// intervals take.
class LaneTicks {
 public:
  /// The bits that all lengths may take together.
  static constexpr std::uint64_t kMostBits = std::uint64_t{10} << 20;

  void add(std::uint64_t length_ns);
  /// `span_ns`: of the recording, which has less than 2^31 ticks. 1, 2 or 5 times a power of ten.
  [[nodiscard]] std::uint64_t choose(std::uint64_t span_ns) const;

 private:
  [[nodiscard]] double bits_at(std::uint64_t tick_ns) const;

  std::array<std::uint64_t, 65> lengths_{};  // by how many bits they have
};

/// The number of a time in ticks, to the nearest one.
constexpr std::uint64_t ticks_of(std::uint64_t ns, std::uint64_t tick_ns) {
  return ns / tick_ns + (ns % tick_ns >= tick_ns - tick_ns / 2 ? 1 : 0);
}

}  // namespace stackpack::exporting
