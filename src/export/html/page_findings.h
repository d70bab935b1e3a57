#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "bytes/byte_writer.h"

namespace stackpack::exporting {

/// What a comparison says of one share of a function.
struct PageFigure {
  std::uint8_t verdict = 0;     ///< row of the texts of verdicts
  std::uint64_t old_value = 0;  ///< samples or weight
  std::uint64_t new_value = 0;
  double low = 0;  ///< bounds of the difference of the shares
  double high = 0;
  double least_visible = 0;
};

/// The findings of a comparison. Most functions have few samples, and thus one of a few figures, so
/// each figure is kept once. Bounds are rounded to four digits.
/// Memory: some 100 bytes a distinct figure, 8 a function.
class PageFindings {
 public:
  explicit PageFindings(std::size_t functions) : of_function_(functions) {}

  void set(std::uint32_t function, const PageFigure& self, const PageFigure& total);

  /// The section of docs/page-format.md. `functions`: the function at each place. The bytes do not
  /// depend on the order in which figures came.
  [[nodiscard]] bytes::ByteWriter encode(std::span<const std::uint32_t> functions) const;

 private:
  /// digits * 10^exponent; not finite: no digits, and kNotFinite.
  struct Rounded {
    std::int32_t digits = 0;
    std::int32_t exponent = 0;

    friend bool operator<(const Rounded& a, const Rounded& b) {
      return std::tie(a.digits, a.exponent) < std::tie(b.digits, b.exponent);
    }
  };
  using Figure = std::tuple<std::uint8_t, std::uint64_t, std::uint64_t, Rounded, Rounded, Rounded>;
  struct Pair {
    std::uint32_t self = 0;  // row of the figures + 1
    std::uint32_t total = 0;
  };

  static constexpr std::int32_t kNotFinite = 127;
  static Rounded rounded(double value);
  std::uint32_t number_of(const PageFigure& figure);

  std::map<Figure, std::uint32_t> numbers_;
  std::vector<std::uint64_t> uses_;  // by number
  std::vector<Pair> of_function_;
};

}  // namespace stackpack::exporting
