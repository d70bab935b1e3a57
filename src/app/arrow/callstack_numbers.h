#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/arrow/naming_places.h"
#include "core/number_table.h"
#include "export/selection/capture_view.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The callstacks of a file as its tables number them: each (place, stack id) that samples have, by
/// place, then stack id. Immutable once it is made.
/// Memory: some 20 bytes each.
class CallstackNumbers {
 public:
  /// All must outlive this.
  CallstackNumbers(const exporting::CaptureView& view, const symbols::SymbolIndex& symbols)
      : places_(view, symbols) {}

  /// Reads all samples once. Errors: those of the reader; kLimit: more than 2^32 - 1.
  Status build(const Reader& reader, const exporting::CaptureView& view);

  struct PlacedStack {
    std::uint32_t place = 0;
    StackId stack = kNoStack;
  };
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  [[nodiscard]] PlacedStack operator[](std::uint32_t number) const {
    const std::uint64_t key = keys_[number];
    return {static_cast<std::uint32_t>(key >> 32), static_cast<StackId>(key)};
  }
  [[nodiscard]] const NamingPlaces& places() const { return places_; }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The numbers of the callstacks of samples, kNone where there is none, into `numbers` (as many).
  /// Errors: kCorrupt, a sample that build() did not see.
  Status find(std::span<const StoredSample> samples, PlaceCache& cache,
              std::span<std::uint32_t> numbers) const;

  /// The time under which counts without times are looked up.
  static constexpr std::uint64_t kCountTime = kUnknownTime - 1;

 private:
  static std::uint64_t key_of(std::uint32_t place, StackId stack) {
    return std::uint64_t{place} << 32 | stack;
  }

  NamingPlaces places_;
  core::NumberTable<std::uint64_t> keys_;  // ascending
};

}  // namespace stackpack::app
