// Where every byte of a capture went. What was passed over is counted by reason: there is no way to
// count a byte as skipped without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stackpack/stats.h"

namespace stackpack::capture {

/// Why bytes of a capture are not in the result: a name, under which the reason is stored and
/// shown. A reason that is also a loss counter has its name: the counter says how often it
/// happened, the reason how many bytes it took. Every format has its own (its *_losses.h).
class SkipReason {
 public:
  /// A literal, so that the name lives as long as the program.
  template <std::size_t size>
  consteval explicit SkipReason(const char (&name)[size]) : name_(name, size - 1) {}

  [[nodiscard]] constexpr std::string_view name() const { return name_; }
  friend constexpr bool operator==(SkipReason, SkipReason) = default;

 private:
  std::string_view name_;
};

constexpr std::string_view name_of(SkipReason reason) {
  return reason.name();
}

/// Skipped bytes by reason.
class SkippedBytes {
 public:
  void add(SkipReason reason, std::uint64_t bytes);
  void add(const SkippedBytes& other);
  [[nodiscard]] std::uint64_t of(SkipReason reason) const;
  [[nodiscard]] std::uint64_t total() const;

  /// Those that are not 0, by name.
  [[nodiscard]] std::vector<SkippedBytesCount> sorted() const;

 private:
  struct Entry {
    SkipReason reason;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries_;  // a handful, of which none is 0
};

struct ByteAccount {
  std::uint64_t total = 0;    ///< bytes of the capture, all parts
  std::uint64_t parsed = 0;   ///< headers and records that were understood
  std::uint64_t padding = 0;  ///< unused space which the format provides for
  SkippedBytes skipped{};     ///< not understood, or understood and of no use

  /// Adds the bytes of another part of the capture.
  void add(const ByteAccount& other) {
    total += other.total;
    parsed += other.parsed;
    padding += other.padding;
    skipped.add(other.skipped);
  }

  /// Every byte is in one of the three.
  [[nodiscard]] bool balanced() const { return parsed + padding + skipped.total() == total; }
};

}  // namespace stackpack::capture
