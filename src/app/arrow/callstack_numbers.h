#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/arrow/naming_places.h"
#include "query/selection/capture_view.h"
#include "query/selection/waker_threads.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sample_cursor.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// The callstacks of a file as its tables number them: each (place, stack id) that samples and
/// waits have, by place, then stack id. Immutable once it is made.
/// Memory: some 20 bytes each.
class CallstackNumbers {
 public:
  /// All must outlive this.
  CallstackNumbers(const query::CaptureView& view, const symbols::SymbolIndex& symbols)
      : places_(view, symbols) {}

  /// Reads all samples and intervals once. Errors: those of the reader; kLimit: more than 2^32 - 1.
  Status build(const Reader& reader, const query::CaptureView& view);

  struct PlacedStack {
    std::uint32_t place = 0;
    StackId stack = kNoStack;
  };
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  [[nodiscard]] PlacedStack operator[](std::uint32_t number) const { return keys_[number]; }
  [[nodiscard]] const NamingPlaces& places() const { return places_; }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// What has to be known of samples: spans of one size.
  struct Samples {
    std::span<const std::uint64_t> time_ns;
    std::span<const std::uint32_t> pid;
    std::span<const StackId> stack;
  };
  /// The numbers of the callstacks of samples, kNone where there is none, into `numbers` (as many).
  /// Errors: kCorrupt, a sample that build() did not see.
  Status find(const Samples& samples, PlaceCache& cache, std::uint32_t* numbers) const;

  /// The same for the callstacks of a block, into `numbers` (replaced). False: those of a process
  /// have several places in the block, or it may be that they are not known, so that its samples
  /// have to be asked one by one; `numbers` are of no use then.
  bool find_entries(const StackEntries& entries, PlaceCache& cache,
                    std::vector<std::uint32_t>& numbers) const;

  /// The time under which counts without times are looked up.
  static constexpr std::uint64_t kCountTime = kUnknownTime - 1;

 private:
  struct Numbered {
    std::uint32_t place = 0;
    std::uint32_t number = 0;
  };
  class Collector;
  void number_all(std::vector<std::uint64_t> keys);
  [[nodiscard]] std::uint32_t place_of(std::uint32_t begin, std::uint32_t end,
                                       std::uint32_t place) const;

  NamingPlaces places_;
  std::vector<PlacedStack> keys_;  // ascending
  // By stack id, so that samples of callstacks that are near each other look near each other: where
  // those of a stack begin, and one past.
  std::vector<std::uint32_t> begin_{0};
  std::vector<Numbered> by_stack_;  // those of a stack by place
};

/// The process of the thread that ended a wait, or kUnknownId.
[[nodiscard]] std::uint32_t waker_pid(const query::WakerThreads& threads, const WaitInterval& row);

}  // namespace stackpack::app
