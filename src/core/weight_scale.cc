#include "core/weight_scale.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace stackpack::core {

namespace {

constexpr std::string_view kScaleMark = "*10^-";
constexpr int kMostDigits = 19;  // that 64 bits hold, whatever they are
constexpr std::uint64_t kMostWeight = ~std::uint64_t{0};

// Leaves `most` digits behind the point, and no zeros at the end.
DecimalWeight fitted(std::uint64_t digits, int decimals, int most) {
  DecimalWeight weight;
  if (decimals > most + kMostDigits) {
    weight.rounded = digits != 0;
    return weight;
  }
  if (decimals > most) {
    const std::uint64_t unit = power_of_ten(static_cast<unsigned>(decimals - most));
    weight.rounded = digits % unit != 0;
    digits = digits / unit + (digits % unit >= unit - unit / 2 ? 1 : 0);
    decimals = most;
  }
  while (decimals > 0 && digits % 10 == 0) {
    digits /= 10;
    --decimals;
  }
  weight.digits = digits;
  weight.decimals = static_cast<unsigned>(decimals);
  return weight;
}

}  // namespace

std::uint64_t shifted(std::uint64_t value, unsigned digits) {
  const std::uint64_t power = power_of_ten(digits);
  return value > ~std::uint64_t{0} / power ? ~std::uint64_t{0} : value * power;
}

std::string decimal_text(std::uint64_t value, unsigned decimals) {
  std::string text = std::to_string(value);
  if (decimals == 0) {
    return text;
  }
  if (text.size() <= decimals) {
    text.insert(0, decimals + 1 - text.size(), '0');
  }
  text.insert(text.size() - decimals, 1, '.');
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text;
}

std::string scaled_unit(std::string_view unit, unsigned decimals) {
  std::string text(unit);
  if (decimals != 0) {
    text += kScaleMark;
    text += std::to_string(decimals);
  }
  return text;
}

ScaledUnit parse_unit(std::string_view text) {
  const std::size_t mark = text.rfind(kScaleMark);
  if (mark == std::string_view::npos || text.size() != mark + kScaleMark.size() + 1 ||
      text.back() < '1' || text.back() > '0' + static_cast<int>(kMostDecimals)) {
    return {text, 0};
  }
  return {text.substr(0, mark), static_cast<unsigned>(text.back() - '0')};
}

std::optional<DecimalWeight> parse_decimal(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view behind = text.substr(std::min(point + 1, text.size()));
  std::uint64_t digits = 0;
  const auto whole = std::from_chars(text.data(), text.data() + point, digits);
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  if (point == 0 || whole.ec != std::errc() || whole.ptr != text.data() + point ||
      !std::all_of(behind.begin(), behind.end(), is_digit)) {
    return std::nullopt;
  }
  // Digits for which there is no room are not kept.
  int decimals = 0;
  bool rest = false;
  constexpr std::uint64_t kMost = ~std::uint64_t{0} / 10 - 1;
  for (const char letter : behind) {
    if (digits < kMost && !rest) {
      digits = digits * 10 + static_cast<std::uint64_t>(letter - '0');
      ++decimals;
    } else {
      rest |= letter != '0';
    }
  }
  DecimalWeight weight = fitted(digits, decimals, static_cast<int>(kMostDecimals));
  weight.rounded |= rest;
  return weight;
}

DecimalWeight decimal_of(double value, int shift, unsigned most) {
  if (!(value > 0) || !std::isfinite(value)) {
    return {value > 0 ? kMostWeight : 0, 0, value > 0};
  }
  // d.ddde+xx
  std::array<char, 32> buffer{};
  char* const begin = buffer.data();
  const auto written =
      std::to_chars(begin, begin + buffer.size(), value, std::chars_format::scientific);
  const char* const mark =
      std::find(static_cast<const char*>(begin), static_cast<const char*>(written.ptr), 'e');
  std::uint64_t digits = 0;
  int decimals = -shift;
  for (const char* at = begin; at != mark; ++at) {
    if (*at != '.') {
      digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
      decimals += at == begin ? 0 : 1;
    }
  }
  int exponent = 0;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), written.ptr, exponent);
  decimals -= exponent;
  if (decimals < 0) {
    const auto power = static_cast<unsigned>(std::min(-decimals, kMostDigits));
    const std::uint64_t whole = -decimals > kMostDigits ? kMostWeight : shifted(digits, power);
    return {whole, 0, whole == kMostWeight};
  }
  return fitted(digits, decimals, static_cast<int>(most));
}

}  // namespace stackpack::core
