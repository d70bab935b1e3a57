#include "export/html/page_findings.h"

#include <array>
#include <cmath>

#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

constexpr int kKeptDigits = 4;
// Exponents are written as bytes. Shares and rates are far from either end.
constexpr std::int32_t kExponentBias = 64;
constexpr std::int32_t kLeastExponent = -kExponentBias;
constexpr std::int32_t kMostExponent = 100;

void put_column(bytes::ByteWriter& all, const bytes::ByteWriter& column) {
  all.write_varint(column.size());
  all.write_bytes(column.bytes());
}

}  // namespace

PageFindings::Rounded PageFindings::rounded(double value) {
  if (!std::isfinite(value)) {
    return {0, kNotFinite};
  }
  if (value == 0) {
    return {};
  }
  const auto exponent =
      static_cast<std::int32_t>(std::floor(std::log10(std::abs(value)))) - (kKeptDigits - 1);
  if (exponent < kLeastExponent) {
    return {};
  }
  if (exponent > kMostExponent) {
    return {0, kNotFinite};
  }
  return {static_cast<std::int32_t>(std::lround(value * std::pow(10.0, -exponent))), exponent};
}

std::uint32_t PageFindings::number_of(const PageFigure& figure) {
  const Figure key{figure.verdict,      figure.old_value,     figure.new_value,
                   rounded(figure.low), rounded(figure.high), rounded(figure.least_visible)};
  const auto [known, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(uses_.size()));
  if (fresh) {
    uses_.push_back(0);
  }
  ++uses_[known->second];
  return known->second + 1;
}

void PageFindings::set(std::uint32_t function, const PageFigure& self, const PageFigure& total) {
  of_function_[function] = {number_of(self), number_of(total)};
}

bytes::ByteWriter PageFindings::encode(std::span<const std::uint32_t> functions) const {
  // Often used ones first, so that their numbers are short.
  std::vector<std::map<Figure, std::uint32_t>::const_iterator> order;
  order.reserve(numbers_.size());
  for (auto figure = numbers_.begin(); figure != numbers_.end(); ++figure) {
    order.push_back(figure);
  }
  core::sort_rows(
      order, [this](const auto& a, const auto& b) { return uses_[a->second] > uses_[b->second]; });
  std::vector<std::uint32_t> places(order.size() + 1);  // of numbers + 1; 0: no figure
  std::array<bytes::ByteWriter, 9> columns;
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    const auto& [figure, number] = *order[place];
    places[number + 1] = place + 1;
    columns[0].write<std::uint8_t>(std::get<0>(figure));
    columns[1].write_varint(std::get<1>(figure));
    columns[2].write_varint(std::get<2>(figure));
    std::size_t column = 3;
    for (const Rounded& value : {std::get<3>(figure), std::get<4>(figure), std::get<5>(figure)}) {
      columns[column].write_varint(bytes::zigzag_encode(value.digits));
      columns[column + 1].write<std::uint8_t>(
          static_cast<std::uint8_t>(value.exponent + kExponentBias));
      column += 2;
    }
  }
  bytes::ByteWriter all;
  all.write_varint(order.size());
  for (const bytes::ByteWriter& column : columns) {
    put_column(all, column);
  }
  bytes::ByteWriter self;
  bytes::ByteWriter total;
  for (const std::uint32_t function : functions) {
    self.write_varint(places[of_function_[function].self]);
    total.write_varint(places[of_function_[function].total]);
  }
  put_column(all, self);
  put_column(all, total);
  return all;
}

}  // namespace stackpack::exporting
